package import LocalSocket

/// Everything that a start reads before it creates or changes a file: the settings, and the files and directories that
/// they name.
///
/// A start, a reload, `config check` and `diagnose` use this type, so that all of them accept the
/// same settings. The start then uses the values that were read here.
package struct PreparedStart: Sendable {
    package enum Purpose: Hashable, Sendable {
        /// This process will serve. It reads the master key later, when the database is open.
        case start
        /// This process only checks the settings, possibly while a daemon runs, or it is the running daemon and
        /// reloads its settings.
        ///
        /// - Parameter runsCommands: whether the check runs the command of the setting `master-key.command`.
        case check(runsCommands: Bool)
    }

    package let settings: Settings
    let files: ReferencedFiles
    let sockets: DaemonSockets
    /// The sockets that systemd passed to this process. A reload needs them again.
    let inherited: InheritedSockets
    /// What is known about the master key, for the operator.
    let masterKey: String
    /// What does not work although the daemon starts, such as a directory for backups that does not exist.
    package let warnings: [String]

    /// - Parameter inherited: the sockets that systemd passed to this process. A check has none, so it checks whether
    ///   the daemon can create its sockets.
    /// - Throws: ``SettingsError`` with every problem for which a start is refused. If a daemon uses the state
    ///   directory, the error of a start has only this problem, because the other daemon causes further ones.
    package init(_ settings: Settings, for purpose: Purpose, inheriting inherited: InheritedSockets = .none) throws {
        if purpose == .start { try InstanceLock.requireFree(directory: settings.stateDirectory) }
        var findings = PreparationFindings()
        if let problem = StateDirectory.problem(settings.stateDirectory) { findings.refuse(problem) }
        PostgreSQLCheck.run(settings, &findings)
        let masterKey = MasterKeyCheck(settings: settings, purpose: purpose).run(&findings)
        let sockets = SocketPaths(settings, inherited: inherited).check(&findings)
        ListenAddressCheck.run(settings, for: purpose, &findings)
        let files = ReferencedFiles.read(settings, &findings)
        WrittenFiles(settings).check(&findings)
        ActivationCommandCheck.run(settings, &findings)
        guard findings.problems.isEmpty, let files else { throw SettingsError(problems: findings.problems) }
        self.settings = settings
        self.files = files
        self.sockets = sockets
        self.inherited = inherited
        self.masterKey = masterKey
        warnings = findings.warnings
    }

    /// - Throws: ``SettingsError`` with every problem of the settings. If there is none, with every problem of the
    ///   files that the settings name.
    package init(
        file: String?, stateDirectory: String?, environment variables: [String: String], for purpose: Purpose,
        inheriting inherited: InheritedSockets = .none
    ) throws {
        try self.init(
            Settings.read(file: file, stateDirectory: stateDirectory, environment: variables), for: purpose,
            inheriting: inherited)
    }
}
