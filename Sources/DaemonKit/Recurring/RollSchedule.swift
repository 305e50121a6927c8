import Logging
import MerchantCore
import MerchantOperations

/// Prepares the successors of keys whose certificates expire soon, warns of the expiry, and reminds operators of steps
/// that rolls still need. Finishes rolls whose old key is no longer used, if the settings say so.
struct RollSchedule: RecurringTask {
    let operations: RenewalSchedule
    let caller: Caller
    let logger: Logger

    func run() async {
        do {
            let report = try await operations.runSchedule(as: caller)
            guard !report.isEmpty else { return }
            logger.notice(
                "the schedule of rolls and renewals has acted",
                metadata: [
                    "rollsStarted": "\(report.rollsStarted)", "warnings": "\(report.warnings)",
                    "reminders": "\(report.reminders)", "rollsFinished": "\(report.rollsFinished)",
                    "pairsPrepared": "\(report.nextRollsPrepared)", "failures": "\(report.failures)",
                ])
        } catch {
            logger.error("the schedule of rolls and renewals failed", metadata: ["error": "\(error)"])
        }
    }
}
