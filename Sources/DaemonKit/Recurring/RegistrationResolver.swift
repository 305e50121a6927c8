import Logging
import MerchantCore
import MerchantOperations
import ServiceLifecycle

/// Finds out what became of calls to Apple that a crash or a lost answer left open: at the start, then a few times a minute.
struct RegistrationResolver: Service {
    static let interval = Duration.seconds(15)

    let operations: OpenCallResolution
    let caller: Caller
    let logger: Logger

    func run() async throws {
        // A daemon that stops cancels the wait; what is open then is settled at the next start.
        try? await cancelWhenGracefulShutdown {
            var lastFailure: MerchantError.Code?
            while !Task.isCancelled {
                do {
                    let round = try await operations.resolveOpenCalls(as: caller)
                    report(round, unlike: lastFailure)
                    lastFailure = round.failure?.code
                } catch {
                    logger.error("settling of open calls to Apple failed", metadata: ["error": "\(error)"])
                }
                try await Task.sleep(for: Self.interval)
            }
        }
    }

    /// What keeps them open is told once, not every round.
    private func report(_ round: OpenCallRound, unlike last: MerchantError.Code?) {
        if round.resolved > 0 {
            logger.notice("open calls to Apple settled", metadata: ["count": "\(round.resolved)"])
        }
        if let failure = round.failure, failure.code != last {
            logger.warning(
                "open calls to Apple cannot be settled yet",
                metadata: ["open": "\(round.open)", "error": "\(failure)"])
        }
    }
}
