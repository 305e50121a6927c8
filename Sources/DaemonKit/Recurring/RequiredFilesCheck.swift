import Logging
import MerchantCore
import MerchantOperations

/// Reports a master key file or lock file that was moved or replaced while the daemon runs. Without the right file, the
/// next start would fail or could not detect lost changes.
struct RequiredFilesCheck: RecurringTask {
    let lock: InstanceLock
    let lockPath: String
    let activeFindings: ActiveFindings
    let logger: Logger
    private var masterKey: MasterKeyPresence
    /// Whether the last check found a problem with the master key.
    private var hadMasterKeyProblem = false
    /// Whether the last check of the master key could not be completed.
    private var didCheckFail = false

    init(
        lock: InstanceLock, lockPath: String, masterKey: MasterKeyPresence, activeFindings: ActiveFindings,
        logger: Logger
    ) {
        self.lock = lock
        self.lockPath = lockPath
        self.masterKey = masterKey
        self.activeFindings = activeFindings
        self.logger = logger
    }

    mutating func run() async {
        report(
            .lockFileMissing,
            lock.isLockFileInPlace
                ? nil
                : "the lock file \(lockPath) was moved or replaced, and the next start needs it to detect lost changes; move the original file back (a copy does not work); if it was deleted, restart the daemon"
        )
        let problem = masterKeyProblem()
        // A rotation replaces the files in several steps, so a problem is reported only if two checks in a row find
        // one.
        report(
            .masterKeyMissing,
            hadMasterKeyProblem
                ? problem.map {
                    "\($0); this daemon still has the data keys in memory, but after a restart it could not use any private key. Do not stop the daemon; correct the owner and mode of the file and its directory, or put the right file back\(masterKey.alternative.map { ", or \($0)" } ?? "")"
                } : nil)
        hadMasterKeyProblem = problem != nil
    }

    /// Logs only the first of several consecutive checks that could not be completed.
    ///
    /// - Returns: what is wrong with the master key; nil if nothing is wrong or the check could not be completed.
    private mutating func masterKeyProblem() -> String? {
        do {
            let problem = try masterKey.problem()
            didCheckFail = false
            return problem
        } catch {
            if !didCheckFail { logger.error("the master key could not be checked", metadata: ["error": "\(error)"]) }
            didCheckFail = true
            return nil
        }
    }

    /// Sets the finding, or clears it if `problem` is nil. Logs only changes.
    private func report(_ code: StatusFinding.Code, _ problem: String?) {
        let wasReported = activeFindings.severity(of: code) != nil
        if let problem {
            activeFindings.set(code, .critical, problem)
            if !wasReported { logger.critical("\(problem)") }
        } else if wasReported {
            activeFindings.clear(code)
            logger.notice("the file is back in its place", metadata: ["finding": "\(code.rawValue)"])
        }
    }
}
