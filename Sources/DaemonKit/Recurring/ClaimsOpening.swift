import Logging
import MerchantCore
import SQLiteStore

/// Opens the claims file as soon as it can be opened, if it could not be opened at the start.
struct ClaimsOpening: RecurringTask {
    static let interval = Duration.seconds(2)

    let claims: ClaimsFile
    let lock: InstanceLock
    let settings: Settings
    let logger: Logger

    mutating func run() async {
        let observer = StartObserver(settings: settings)
        let previous = lock.previousContent
        let hadLog = observer.hasClaimsLog
        claims.openIfUnusable { store in
            if previous.expectsClaimsLog, !hadLog {
                observer.missingClaimsLog.log(logger)
            } else if let expected = previous.newestClaim, (try? store.lacks(expected)) != false {
                observer.olderClaims(lacking: expected).log(logger)
            }
            do { try lock.markOpen(store) } catch {
                logger.error(
                    "the lock file does not name the open claims file, so the next start may not detect lost claims",
                    metadata: ["error": "\(error)"])
            }
        }
    }
}
