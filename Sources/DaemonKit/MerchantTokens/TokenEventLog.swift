import Logging
import MerchantCore
import MerchantOperations
import Synchronization

/// Logs what ``TokenEventDispatcher`` reports. While events cannot be fetched, only the first failure is logged as a
/// warning, and each further one at the level debug. The first success afterwards is logged as a notice.
final class TokenEventLog: Sendable {
    private let logger: Logger
    /// The last failure; nil after a success.
    private let failure = Mutex(String?.none)

    init(logger: Logger) { self.logger = logger }

    func write(_ report: TokenEventDispatcher.Report) {
        switch report {
        case .storeFailure(let error):
            logger.error(
                "notifications of merchant tokens could not be read or stored", metadata: ["error": "\(error)"])
        case .attempt(let notification, let outcome): write(outcome, of: notification)
        }
    }

    private func write(_ outcome: TokenEventFetching.Outcome, of notification: TokenNotification) {
        let metadata: Logger.Metadata = [
            "event": "\(notification.eventIdentifier)", "merchant": "\(notification.merchantIdentifier)",
        ]
        switch outcome {
        case .stored:
            noteSuccess()
            logger.debug("event of a merchant token stored", metadata: metadata)
        case .unknown:
            noteSuccess()
            logger.debug("Apple does not know the event of a notification", metadata: metadata)
        case .otherMerchant(let token):
            noteSuccess()
            logger.warning(
                "an event was not stored, because its merchant token belongs to another merchant",
                metadata: metadata.merging(["merchantToken": "\(token)"]) { $1 })
        case .forbidden(let finding): noteFailure("forbidden", finding, metadata)
        case .failed(_, let finding): noteFailure("failed", finding, metadata)
        case .withoutIdentity(_, let finding): noteFailure("identity", finding, metadata)
        case .paused: noteFailure("paused", "calls to Apple are paused after failures", metadata)
        case .lost(let finding):
            logger.error(
                "an event of a merchant token is lost, because it could not be fetched for 7 days",
                metadata: metadata.merging(["reason": "\(finding)"]) { $1 })
        case .closed, .cancelled: break
        }
    }

    private func noteFailure(_ kind: String, _ finding: String, _ metadata: Logger.Metadata) {
        let isFirst = failure.withLock { failure in
            defer { failure = kind }
            return failure == nil
        }
        logger.log(
            level: isFirst ? .warning : .debug, "events of merchant tokens cannot be fetched from Apple",
            metadata: metadata.merging(["reason": "\(finding)"]) { $1 })
    }

    private func noteSuccess() {
        let hadFailure = failure.withLock { failure in
            defer { failure = nil }
            return failure != nil
        }
        if hadFailure { logger.notice("events of merchant tokens can be fetched from Apple again") }
    }
}
