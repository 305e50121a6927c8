import Logging
import MerchantCore
import MerchantOperations

/// Reports a master key file or lock file that was moved or replaced while the daemon runs. Without the right file, the
/// next start would fail or could not detect lost changes.
struct RequiredFilesCheck: RecurringTask {
    let lock: InstanceLock
    let lockPath: String
    let conditions: ConditionLog
    let logger: Logger
    private var masterKey: MasterKeyPresence
    /// Whether the last check found a fault of the master key.
    private var wasFaulty = false
    /// Whether the last check of the master key failed.
    private var wasUnreadable = false

    init(
        lock: InstanceLock, lockPath: String, masterKey: MasterKeyPresence, conditions: ConditionLog, logger: Logger
    ) {
        self.lock = lock
        self.lockPath = lockPath
        self.masterKey = masterKey
        self.conditions = conditions
        self.logger = logger
    }

    mutating func run() async {
        report(
            .lockFileMissing,
            lock.isInPlace
                ? nil
                : "the lock file \(lockPath) was moved or replaced; the next start needs it to detect lost changes; put the same file back"
        )
        let fault = masterKeyFault()
        // A rotation replaces the files in several steps, so a fault is reported when two checks in a row find one.
        report(
            .masterKeyMissing,
            wasFaulty
                ? fault.map {
                    "\($0); this daemon still has its data keys in memory, but after a restart no private key could be used; put the right file back, from a copy if need be, and do not stop the daemon before"
                } : nil)
        wasFaulty = fault != nil
    }

    /// Logs a failed check only if the check before it did not fail.
    ///
    /// - Returns: what is wrong with the master key; nil if nothing is, or if it could not be checked.
    private mutating func masterKeyFault() -> String? {
        do {
            let fault = try masterKey.fault()
            wasUnreadable = false
            return fault
        } catch {
            if !wasUnreadable { logger.error("the master key could not be checked", metadata: ["error": "\(error)"]) }
            wasUnreadable = true
            return nil
        }
    }

    /// Sets or clears the finding. Logs only changes.
    private func report(_ code: StatusFinding.Code, _ fault: String?) {
        let wasReported = conditions.severity(of: code) != nil
        if let fault {
            conditions.set(code, .critical, fault)
            if !wasReported { logger.critical("\(fault)") }
        } else if wasReported {
            conditions.clear(code)
            logger.notice("the file is back in its place", metadata: ["finding": "\(code.rawValue)"])
        }
    }
}
