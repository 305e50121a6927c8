import Logging
import MerchantCore
import MerchantOperations

/// Asks Apple for the outcome of *open* registration calls. The outcome of an open call is unknown, because of a crash
/// or a missing response.
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

    /// Logs a failure only in the first of several consecutive rounds with the same failure.
    private func report(_ round: OpenCallReport) {
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
