import Logging
import MerchantCore
import MerchantOperations

/// Asks Apple for the outcome of calls that a crash or a missing response left open.
struct RegistrationResolver: RecurringTask {
    let operations: OpenCallResolution
    let caller: Caller
    let logger: Logger
    private var lastFailure: MerchantError.Code?

    init(operations: OpenCallResolution, caller: Caller, logger: Logger) {
        self.operations = operations
        self.caller = caller
        self.logger = logger
    }

    mutating func run() async {
        do {
            let round = try await operations.resolveOpenCalls(as: caller)
            report(round)
            lastFailure = round.failure?.code
        } catch {
            logger.error("open calls to Apple could not be resolved", metadata: ["error": "\(error)"])
        }
    }

    /// Logs a failure that lasts several rounds once.
    private func report(_ round: OpenCallRound) {
        if round.resolved > 0 {
            logger.notice("open calls to Apple resolved", metadata: ["count": "\(round.resolved)"])
        }
        if let failure = round.failure, failure.code != lastFailure {
            logger.warning(
                "open calls to Apple cannot be resolved yet",
                metadata: ["open": "\(round.open)", "error": "\(failure)"])
        }
    }
}
