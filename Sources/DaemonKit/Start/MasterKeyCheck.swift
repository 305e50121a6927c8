import Glibc
import KeyCustody
import MerchantCore
import Vocabulary

/// Checks the sources of the master key and of the previous one.
struct MasterKeyCheck {
    let settings: Settings
    let purpose: PreparedStart.Purpose

    /// - Returns: what is known about the master key, for the operator.
    func run(_ findings: inout PreparationFindings) -> String {
        if let previous = settings.masterKey.previous { checkPrevious(previous, &findings) }
        let source = settings.masterKey.current
        switch source {
        case .file(let path):
            warnIfReplaceable(path, &findings)
            return checkFile(path, source, &findings)
        case .credential: return checkCredential(source, &findings)
        case .command(let words, _): return checkCommand(words.first ?? "", source, &findings)
        }
    }

    /// Warns if every user can replace the file in its directory.
    private func warnIfReplaceable(_ path: String, _ findings: inout PreparationFindings) {
        let directory = PathAccess.directory(of: path)
        let (othersWrite, sticky): (UInt32, UInt32) = (0o002, 0o1000)
        guard let mode = FileStatus(of: directory, followsLinks: true)?.mode, mode & othersWrite != 0,
            mode & sticky == 0
        else { return }
        findings.warn(
            "'master-key.file': every user can replace files in the directory \(directory); run 'chmod o-w' on it")
    }

    private func checkFile(
        _ path: String, _ source: MasterKeySource, _ findings: inout PreparationFindings
    ) -> String {
        guard FileStatus(of: path) == nil else { return load(source, "master-key.file", &findings) }
        guard errno == ENOENT else {
            findings.refuse("'master-key.file': \(path) cannot be examined: \(PathAccess.lastError)")
            return ""
        }
        // Only the connected daemon knows whether a PostgreSQL database needs the missing key.
        guard settings.store.postgresql != nil || FileStatus(of: settings.databasePath) == nil else {
            // A start reports this as a finding, together with the other findings about the state directory.
            if purpose != .start, let finding = StartObserver.forCheck(settings).missingMasterKey {
                findings.refuse("\(finding.message) [\(finding.code.rawValue)]")
            }
            return ""
        }
        let directory = PathAccess.directory(of: path)
        let isCreatedByStart =
            directory == settings.stateDirectory && FileStatus(of: directory, followsLinks: true) == nil
        if path.isEmpty || path.hasSuffix("/") {
            findings.refuse("'master-key.file' is '\(path)', expected the path of a file")
        } else if !isCreatedByStart, let reason = PathAccess.whyNothingCanBeCreated(in: directory) {
            findings.refuse(
                "'master-key.file': the first start creates \(path), but the directory \(directory) \(reason)")
        }
        return "\(source), which the first start creates"
    }

    private func checkCredential(_ source: MasterKeySource, _ findings: inout PreparationFindings) -> String {
        guard purpose != .start, let reason = source.reasonUnreadableHere else {
            return load(source, "master-key.credential", &findings)
        }
        // The running daemon may have another source than the settings, if they were changed after its start.
        guard InstanceLock.masterKeySource(inDirectory: settings.stateDirectory) != source.description else {
            return "\(source), which the running daemon read when it started"
        }
        findings.warn("'master-key.credential': \(reason)")
        return "\(source), not checked"
    }

    private func checkCommand(
        _ program: String, _ source: MasterKeySource, _ findings: inout PreparationFindings
    ) -> String {
        guard FileStatus(of: program, followsLinks: true)?.kind == .regular, PathAccess.allows(X_OK, program) else {
            findings.refuse(
                "'master-key.command': \(program) is not a program that the daemon's user can run; name an executable file"
            )
            return ""
        }
        CommandCheck.run(program, setting: "master-key.command", &findings)
        guard findings.problems.isEmpty else { return "\(source), not run" }
        guard purpose == .check(runsCommands: true) else {
            return "\(source), not run; --run-commands runs it"
        }
        return load(source, "master-key.command", &findings)
    }

    private func load(
        _ source: MasterKeySource, _ setting: String, _ findings: inout PreparationFindings
    ) -> String {
        guard let identifier = findings.collect("'\(setting)': ", { try source.load().identifier }) else { return "" }
        return "\(source), which holds the key \(identifier)"
    }

    /// A start needs the previous key only until a rotation has replaced it, so a missing key is a warning.
    private func checkPrevious(_ source: MasterKeySource, _ findings: inout PreparationFindings) {
        if case .command(let words, _) = source {
            CommandCheck.run(words.first ?? "", setting: "master-key.previous.command", &findings)
            guard purpose == .check(runsCommands: true), findings.problems.isEmpty else { return }
        }
        if purpose != .start, let reason = source.reasonUnreadableHere {
            return findings.warn("'master-key.previous': \(reason). Remove the setting after the rotation")
        }
        do { _ = try source.load().identifier } catch {
            findings.warn(
                "'master-key.previous': \(error.detail); the daemon cannot start if the database still needs this key. Remove the setting after the rotation"
            )
        }
    }
}
