import Logging
import MerchantCore
import MerchantOperations

/// Compares the machine's clock with the confirmed time, which the daemon counts itself and which does not change when
/// somebody sets the clock. Reports a difference, and stores the confirmed time for the next start.
struct ClockCheck: RecurringTask {
    /// How many rounds pass before the confirmed time is stored again: 5 minutes, with a round every 10 seconds.
    private static let roundsBetweenStores = 30

    let operations: ClockOperations
    let monitoring: Monitoring
    let activeFindings: ActiveFindings
    let logger: Logger
    private var round = 0
    /// How many times the daemon had accepted a change of the machine's clock, as of the last round.
    private var lastAcceptances = 0
    /// Whether, as of the last round, new claims were refused because the clock is too far behind the newest claim.
    private var areClaimsRefused = false

    init(operations: ClockOperations, monitoring: Monitoring, activeFindings: ActiveFindings, logger: Logger) {
        self.operations = operations
        self.monitoring = monitoring
        self.activeFindings = activeFindings
        self.logger = logger
    }

    mutating func run() async {
        await report()
        logRefusedClaims()
        let wasAccepted = operations.acceptances > lastAcceptances
        if wasAccepted {
            lastAcceptances = operations.acceptances
            logger.notice(
                "the daemon has accepted the change of the machine's clock, because the clock kept its new time")
        }
        if wasAccepted || round % Self.roundsBetweenStores == 0 { await store() }
        round += 1
    }

    func finish() async { await store() }

    /// Reports the difference to `status` and health. Logs it only if its severity has changed.
    private func report() async {
        do {
            let finding = try await operations.clockFinding()
            let before = activeFindings.severity(of: .clockUnconfirmed)
            if let finding {
                activeFindings.set(finding.code, finding.severity, finding.detail)
            } else {
                activeFindings.clear(.clockUnconfirmed)
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

    /// Logs when the daemon begins to refuse new claims because the clock is too far behind the newest claim, and when
    /// this ends. ``Monitoring`` reports these refusals to `status` and health.
    private mutating func logRefusedClaims() {
        let behind = monitoring.clockBehindClaims
        guard (behind != nil) != areClaimsRefused else { return }
        areClaimsRefused = behind != nil
        if let behind {
            logger.critical("\(behind.detail)")
        } else {
            logger.notice(
                "payment tokens can be claimed again: the machine's clock is no longer too far behind the newest claim")
        }
    }

    /// If this fails, the next start counts from an earlier time. The failure is logged only at the level debug,
    /// because ``DaemonHealth`` reports failed writes.
    private func store() async {
        do { try await operations.storeConfirmedTime() } catch {
            logger.debug("the confirmed time could not be stored", metadata: ["error": "\(error)"])
        }
    }
}
