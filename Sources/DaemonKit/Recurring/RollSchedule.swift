import Logging
import MerchantCore
import MerchantOperations
import ServiceLifecycle

/// Prepares successors, warns of ends and reminds of missing steps, once a minute; what is due is found by index.
struct RollSchedule: Service {
    static let interval = Duration.seconds(60)

    let operations: RenewalSchedule
    let caller: Caller
    let logger: Logger

    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                await pass()
                try await Task.sleep(for: Self.interval)
            }
        }
    }

    private func pass() async {
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
