package import MerchantCore
import Vocabulary

extension Monitoring {
    /// Whether the daemon can store claims now. A claim is the record that a payment token was used.
    package var claimsHealth: StoreHealth { sources.claims() }
    /// Why and until when new claims are refused although they can be stored; nil if they are accepted.
    package var clockBehindClaims: ClockBehindClaims? { sources.clockBehindClaims() }

    /// The current problems of the daemon itself, one finding for each. Does not block.
    package func healthFindings() -> [StatusFinding] {
        var findings = sources.conditions() + integrity.findings
        func critical(_ code: StatusFinding.Code, _ detail: String) {
            findings.append(StatusFinding(severity: .critical, code: code, detail: detail))
        }
        switch sources.claims() {
        case .ready: break
        case .impaired(let error, _), .failed(let error):
            critical(
                .claimsRefused,
                "the use of payment tokens cannot be recorded, so the daemon refuses to decrypt tokens for payments: \(error.detail)"
            )
        }
        if let behind = clockBehindClaims { critical(.claimsRefused, behind.detail) }
        if let anomaly = tokenTimes.anomaly(at: clock.now) { critical(.clockWrong, anomaly.detail) }
        if case .circuitOpen(let until, let lastError) = sources.circuit() {
            findings.append(
                StatusFinding(
                    severity: .warning, code: .gatewayUnavailable,
                    detail:
                        "the daemon makes no calls to Apple until \(until), because the last ones failed: \(lastError.prefix(300))"
                ))
        }
        return findings
    }
}

extension TokenTimeWatch.Anomaly {
    /// The text of the finding `clockWrong`.
    fileprivate var detail: String {
        let seconds = medianOffset.components.seconds
        let side = seconds < 0 ? "ahead of" : "behind"
        return
            "genuine tokens of \(refusing) of the last \(merchants.counted("merchant")) are refused for their signing time, which differs from this machine's clock by \(abs(seconds).counted("second")) in the median: the machine's clock seems to be \(side) Apple's. Correct the clock, and check with 'chronyc tracking' or 'timedatectl' that it is synchronized"
    }
}
