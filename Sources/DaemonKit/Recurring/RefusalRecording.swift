import Logging
import MerchantCore
import MerchantOperations

/// Records in the audit the requests that were refused because the caller lacks a permit.
///
/// Each round that finds refusals doubles the pause before the next round, from 3 up to 60 seconds, so that no caller
/// can fill the audit. A round without refusals resets the pause. A crash loses the refusals since the last round.
struct RefusalRecording: RecurringTask {
    static let shortestPause = Duration.seconds(3)
    private static let longestPause = Duration.seconds(60)

    let operations: RefusalAudit
    let caller: Caller
    let logger: Logger
    private var pause = Self.shortestPause

    init(operations: RefusalAudit, caller: Caller, logger: Logger) {
        self.operations = operations
        self.caller = caller
        self.logger = logger
    }

    var nextPause: Duration? { pause }

    mutating func run() async { pause = await record() ? min(pause * 2, Self.longestPause) : Self.shortestPause }

    func finish() async { _ = await record() }

    /// - Returns: whether there were refusals to record; also true if they could not be recorded.
    private func record() async -> Bool {
        do { return try await operations.recordRefusals(as: caller) > 0 } catch {
            logger.error("refused requests could not be recorded", metadata: ["error": "\(error)"])
            return true
        }
    }
}
