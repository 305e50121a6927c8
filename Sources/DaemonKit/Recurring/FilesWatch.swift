import Logging
import MerchantCore
import MerchantOperations
import ServiceLifecycle

/// Reports a master key or a lock file that was moved away or replaced while the daemon runs: the next start would fail for it.
struct FilesWatch: Service {
    private static let interval = Duration.seconds(2)

    let lock: InstanceLock
    let lockPath: String
    let masterKey: MasterKeyPresence
    let conditions: ConditionLog
    let logger: Logger

    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            var masterKey = masterKey
            var wasFaulty = false
            var wasUnreadable = false
            while !Task.isCancelled {
                report(
                    .lockFileMissing,
                    lock.isInPlace
                        ? nil
                        : "the lock file \(lockPath) was moved away or replaced; without it the next start cannot detect lost changes; put the same file back"
                )
                let fault = masterKeyFault(&masterKey, &wasUnreadable)
                // A rotation exchanges the files in several steps: only what is still wrong at the next check is reported.
                report(
                    .masterKeyMissing,
                    wasFaulty
                        ? fault.map {
                            "\($0). The daemon still holds its data keys, but after a restart it could not use any private key. Put the right file back before you stop the daemon"
                        } : nil)
                wasFaulty = fault != nil
                try await Task.sleep(for: Self.interval)
            }
        }
    }

    /// - Parameter wasUnreadable: whether the last check could not be made; only the first of them is logged.
    private func masterKeyFault(_ masterKey: inout MasterKeyPresence, _ wasUnreadable: inout Bool) -> String? {
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

    /// Logs only what changes.
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
