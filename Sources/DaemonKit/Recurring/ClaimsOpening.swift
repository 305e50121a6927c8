import Logging
import MerchantCore

/// Opens the claims file as soon as it can be opened, if it could not be opened at the start.
struct ClaimsOpening: RecurringTask {
    static let interval = Duration.seconds(2)

    let claims: ClaimsFile
    let lock: InstanceLock
    let settings: Settings
    let logger: Logger

    mutating func run() async {
        let observer = StartObserver(settings: settings)
        let hadLog = observer.hasClaimsLog
        guard claims.openIfUnusable() else { return }
        if lock.previousContent.expectsClaimsLog, !hadLog { observer.missingClaimsLog.log(logger) }
        do { try lock.markClaimsOpen() } catch {
            logger.error(
                "the lock file does not name the open claims file, so the next start may not detect lost claims",
                metadata: ["error": "\(error)"])
        }
    }
}
