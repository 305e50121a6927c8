import Logging
import MerchantCore
import MerchantOperations

/// Prepares the successors of keys whose certificates expire, warns of the expiry, reminds of missing steps of rolls,
/// and finishes quiet rolls.
struct RollSchedule: RecurringTask {
    let operations: RenewalSchedule
    let caller: Caller
    let logger: Logger

    func run() async {
        do {
            let report = try await operations.runSchedule(as: caller)
            guard !report.isEmpty else { return }
            logger.notice(
                "schedule",
                metadata: [
                    "rollsStarted": "\(report.rollsStarted)", "warnings": "\(report.warnings)",
                    "reminders": "\(report.reminders)", "rollsFinished": "\(report.rollsFinished)",
                    "pairsPrepared": "\(report.pairsPrepared)", "failures": "\(report.failures)",
                ])
        } catch {
            logger.error("the schedule failed", metadata: ["error": "\(error)"])
        }
    }
}
