import Logging
import MerchantCore
import MerchantOperations
import ServiceLifecycle

/// Compares the machine's clock with the confirmed time, reports a difference, and stores the confirmed time for the next start.
struct ClockWatch: Service {
    private static let interval = Duration.seconds(10)
    /// After how many intervals the confirmed time is stored.
    private static let storedEvery = 30

    let operations: ClockOperations
    let conditions: ConditionLog
    let logger: Logger

    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            var round = 0
            var acceptances = 0
            while !Task.isCancelled {
                await report()
                let isAccepted = operations.acceptances > acceptances
                if isAccepted {
                    acceptances = operations.acceptances
                    logger.notice("the machine's clock stayed as it was set and is accepted")
                }
                if isAccepted || round % Self.storedEvery == 0 { await store() }
                round += 1
                try await Task.sleep(for: Self.interval)
            }
        }
        await store()
    }

    /// Logs only where the severity changes.
    private func report() async {
        do {
            let finding = try await operations.clockFinding()
            let before = conditions.severity(of: .clockUnconfirmed)
            if let finding {
                conditions.set(finding.code, finding.severity, finding.detail)
            } else {
                conditions.clear(.clockUnconfirmed)
            }
            guard finding?.severity != before else { return }
            if let finding {
                logger.warning("\(finding.detail)")
            } else {
                logger.notice("the machine's clock agrees with the time that the daemon counted")
            }
        } catch is CancellationError {
        } catch {
            logger.error("the machine's clock could not be checked", metadata: ["error": "\(error)"])
        }
    }

    /// Where nothing can be written, the next start counts from an earlier time. The store's own health reports the failure.
    private func store() async {
        do { try await operations.storeConfirmedTime() } catch {
            logger.debug("the confirmed time could not be stored", metadata: ["error": "\(error)"])
        }
    }
}
