import Logging
import MerchantCore
import MerchantOperations
import ServiceLifecycle

/// Asks Apple for the outcome of calls whose response was not received: at the start, then a few times a minute.
struct RegistrationResolver: Service {
    static let interval = Duration.seconds(15)

    let operations: MerchantOperations
    let caller: Caller
    let logger: Logger

    func run() async throws {
        // A shutdown cancels the wait; the next start resolves the rest.
        try? await cancelWhenGracefulShutdown {
            var lastFailure: MerchantError.Code?
            while !Task.isCancelled {
                do {
                    let round = try await operations.settleOpenCalls(as: caller)
                    report(round, unlike: lastFailure)
                    lastFailure = round.failure?.code
                } catch {
                    logger.error("unresolved calls to Apple could not be checked", metadata: ["error": "\(error)"])
                }
                try await Task.sleep(for: Self.interval)
            }
        }
    }

    /// Logs a failure once, not at every interval.
    private func report(_ round: SettlingRound, unlike last: MerchantError.Code?) {
        if round.settled > 0 {
            logger.notice("calls to Apple resolved", metadata: ["count": "\(round.settled)"])
        }
        if let failure = round.failure, failure.code != last {
            logger.warning(
                "calls to Apple cannot be resolved yet",
                metadata: ["open": "\(round.open)", "error": "\(failure)"])
        }
    }
}
