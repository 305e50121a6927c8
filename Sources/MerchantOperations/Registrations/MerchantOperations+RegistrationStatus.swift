import MerchantCore
import Vocabulary

extension MerchantOperations {
    /// How long the outcome of a call to Apple may be unknown before somebody should know: Apple has had its time.
    static let longestUnsettled = Duration.seconds(10 * 60)

    /// What an operator should know about registrations and the way to Apple.
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
                "Apple's record of \(counts.registrationsDrifting) registration\(counts.registrationsDrifting == 1 ? "" : "s") differs from ours: see registration sync"
            )
        }
        if let oldestOpenCall, oldestOpenCall.adding(longestUnsettled) <= now {
            add(
                .warning, .registrationUnresolved,
                "nobody knows what became of \(counts.registrationCallsOpen) calls to Apple, the oldest since \(oldestOpenCall)"
            )
        }
        if case .notConfigured(let detail) = health, counts.registrations > 0 || counts.registrationCallsOpen > 0 {
            add(.warning, .gatewayUnavailable, detail)
        }
        return findings
    }
}
