import MerchantCore
import Vocabulary

extension Monitoring {
    /// If the outcome of a call to Apple has been unknown for longer than this, `status` warns.
    static let longestUnresolved = Duration.seconds(10 * 60)

    /// Findings about registrations and the connection to Apple.
    static func findings(
        for counts: StoreCounts, oldestOpenCall: Timestamp?, health: GatewayHealth, at now: Timestamp
    ) -> [StatusFinding] {
        var findings: [StatusFinding] = []
        func add(_ severity: StatusFinding.Severity, _ code: StatusFinding.Code, _ detail: String) {
            findings.append(StatusFinding(severity: severity, code: code, detail: detail))
        }
        if counts.registrationsDrifting > 0 {
            add(
                .warning, .registrationDrift,
                "Apple's record of \(counts.registrationsDrifting.counted("registration")) differs from the daemon's: 'registration sync' shows the differences, and 'registration sync --repair' makes Apple's record match"
            )
        }
        if let oldestOpenCall, oldestOpenCall.adding(longestUnresolved) <= now {
            add(
                .warning, .registrationUnresolved,
                "the outcome of \(counts.registrationCallsOpen.counted("call")) to Apple is unknown, and the oldest call was made at \(oldestOpenCall): the daemon asks Apple for each outcome, so check the connection to Apple"
            )
        }
        // Without registrations, the daemon needs no connection to Apple.
        if case .notConfigured(let detail) = health, counts.registrations > 0 || counts.registrationCallsOpen > 0 {
            add(.warning, .gatewayUnavailable, detail)
        }
        return findings
    }
}
