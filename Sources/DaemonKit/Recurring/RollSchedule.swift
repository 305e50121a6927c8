import Logging
import MerchantCore
import MerchantOperations
import ServiceLifecycle

/// Once a minute, prepares successors of expiring keys, warns of expiry and reminds of missing steps.
struct RollSchedule: Service {
    static let interval = Duration.seconds(60)

    let operations: MerchantOperations
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
            logger.error("the roll schedule failed", metadata: ["error": "\(error)"])
        }
    }
}
