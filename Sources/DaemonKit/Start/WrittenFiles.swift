import Glibc
import LocalSocket

/// Checks the places outside the state directory to which the daemon writes: the directory for backups, and the file
/// and socket for audit heads.
///
/// A daemon that cannot write to these places still serves payments. So such a failure is only a warning at the start,
/// and `status` reports it while the daemon runs.
struct WrittenFiles {
    private let settings: Settings

    init(_ settings: Settings) { self.settings = settings }

    func check(_ findings: inout PreparationFindings) {
        if let directory = settings.backup?.directory, let reason = PathAccess.whyNothingCanBeCreated(in: directory) {
            findings.warn("'backup.directory': the directory \(directory) \(reason); backups will fail")
        }
        if let path = settings.auditHead.file { checkHeadFile(path, &findings) }
        if let path = settings.auditHead.syslog { checkSyslog(path, &findings) }
    }

    private func checkHeadFile(_ path: String, _ findings: inout PreparationFindings) {
        // A start compares the database with the last head in the file. So the start is refused if the file cannot be
        // read.
        guard findings.collect("", { try HeadFile(path: path).lastLine() }) != nil else { return }
        let reason: String?
        if FileStatus(of: path, followsLinks: true) != nil {
            reason =
                PathAccess.allows(R_OK | W_OK, path)
                ? nil
                : "the file \(path) is not writable for the daemon's user (uid \(geteuid())): \(PathAccess.lastError)"
        } else {
            let directory = PathAccess.directory(of: path)
            reason = PathAccess.whyNothingCanBeCreated(in: directory).map { "the directory \(directory) \($0)" }
        }
        if let reason { findings.warn("'audit.head.file': \(reason); the audit head will not be written") }
    }

    private func checkSyslog(_ path: String, _ findings: inout PreparationFindings) {
        guard path.utf8.count <= UnixListener.longestPath else {
            return findings.refuse(
                "'audit.head.syslog' has \(path.utf8.count) bytes, expected at most \(UnixListener.longestPath); use a shorter path"
            )
        }
        if FileStatus(of: path, followsLinks: true)?.kind != .socket {
            findings.warn("'audit.head.syslog': there is no socket \(path); the audit head will not be sent to it")
        }
    }
}
