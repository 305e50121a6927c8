import Logging
import MerchantCore
import MerchantOperations

/// Compares the machine's clock with the confirmed time, which is the daemon's own count and does not follow changes of
/// the clock. Reports a difference, and stores the confirmed time for the next start.
struct ClockCheck: RecurringTask {
    /// After how many rounds the confirmed time is stored: every 5 minutes, as a round starts every 10 seconds.
    private static let roundsBetweenStores = 30

    let operations: ClockOperations
    let conditions: ConditionLog
    let logger: Logger
    private var round = 0
    /// How many times the confirmed time has accepted the machine's clock, up to the last round.
    private var acceptances = 0

    init(operations: ClockOperations, conditions: ConditionLog, logger: Logger) {
        self.operations = operations
        self.conditions = conditions
        self.logger = logger
    }

    mutating func run() async {
        await report()
        let isAccepted = operations.acceptances > acceptances
        if isAccepted {
            acceptances = operations.acceptances
            logger.notice("the machine's clock stayed as it was set and is accepted")
        }
        if isAccepted || round % Self.roundsBetweenStores == 0 { await store() }
        round += 1
    }

    func finish() async { await store() }

    /// Reports the difference to `status` and health. Logs it only if its severity has changed.
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

    /// If this fails, the next start counts from an earlier time. The failure is not reported here, because
    /// ``DaemonHealth`` reports failed writes.
    private func store() async {
        do { try await operations.storeConfirmedTime() } catch {
            logger.debug("the confirmed time could not be stored", metadata: ["error": "\(error)"])
        }
    }
}
