import Logging
import MerchantCore
import MerchantOperations

/// Prepares new key pairs for certificates that expire soon, warns of the expiry, and reminds operators of steps that
/// rolls still need. Also finishes rolls whose old key is no longer used, if `roll.finish-when-quiet` is true.
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
