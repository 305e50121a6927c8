package import LocalSocket

/// The settings, and the files and directories that they name, as read before startup creates or changes a file.
///
/// Startup, reload, `config check` and `diagnose` all use this type, so that they accept the same settings.
package struct PreparedStart: Sendable {
    package enum Purpose: Hashable, Sendable {
        /// This process will serve. A command that prints a master key is not run here: the start runs the command
        /// later, when the database is open.
        case start
        /// This process only checks the settings, possibly while a daemon runs, or it is the running daemon and
        /// reloads its settings.
        ///
        /// - Parameter runsCommands: whether the check runs the commands of the settings `master-key.command` and
        ///   `master-key.previous.command`.
        case check(runsCommands: Bool)
    }

    package let settings: Settings
    let files: ReferencedFiles
    let sockets: DaemonSockets
    /// The sockets that systemd passed to this process. A reload needs them again.
    let inherited: InheritedSockets
    /// The source of the master key and whether it was checked, as `config check` prints it.
    let masterKeyDescription: String
    /// Problems that do not prevent startup, such as a missing backup directory.
    package let warnings: [String]

    /// - Parameter inherited: the sockets that systemd passed to this process. `config check` and `diagnose` pass none,
    ///   so they check whether the daemon can create its sockets.
    /// - Throws: ``SettingsError`` with every problem found here for which a start is refused. If another daemon uses
    ///   the state directory, ``Purpose/start`` reports only this problem, because that daemon causes further problems.
    package init(_ settings: Settings, for purpose: Purpose, inheriting inherited: InheritedSockets = .none) throws {
        if purpose == .start { try InstanceLock.requireFree(directory: settings.stateDirectory) }
        var findings = PreparationFindings()
        if let problem = StateDirectory.problem(settings.stateDirectory) { findings.refuse(problem) }
        if let overridden = settings.overriddenStateDirectory {
            findings.warn(
                "'state-directory' is \(overridden), but the flag --state-directory overrides it with \(settings.stateDirectory)"
            )
        }
        PostgreSQLCheck.run(settings, &findings)
        let masterKeyDescription = MasterKeyCheck(settings: settings, purpose: purpose).run(&findings)
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
        self.masterKeyDescription = masterKeyDescription
        warnings = findings.warnings
    }

    /// - Throws: ``SettingsError`` with every problem of the settings. If there is none, with every problem that
    ///   ``init(_:for:inheriting:)`` finds.
    package init(
        file: String?, stateDirectory: String?, environment variables: [String: String], for purpose: Purpose,
        inheriting inherited: InheritedSockets = .none
    ) throws {
        try self.init(
            Settings.read(file: file, stateDirectory: stateDirectory, environment: variables), for: purpose,
            inheriting: inherited)
    }
}
