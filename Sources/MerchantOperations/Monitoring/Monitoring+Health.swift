package import MerchantCore
import Vocabulary

extension Monitoring {
    /// Whether payment tokens can be claimed.
    package var claimsHealth: StoreHealth { sources.claims() }

    /// The current problems of the daemon itself, one finding for each. Does not block.
    package func healthFindings() -> [StatusFinding] {
        var findings = sources.conditions() + integrity.findings
        func critical(_ code: StatusFinding.Code, _ detail: String) {
            findings.append(StatusFinding(severity: .critical, code: code, detail: detail))
        }
        switch sources.claims() {
        case .ready: break
        case .impaired(let error, _), .failed(let error):
            critical(.claimsRefused, "payment tokens cannot be claimed: \(error.detail)")
        }
        if let anomaly = tokenTimes.anomaly(at: clock.now) { critical(.clockWrong, anomaly.detail) }
        if case .circuitOpen(let until, let lastError) = sources.circuit() {
            findings.append(
                StatusFinding(
                    severity: .warning, code: .gatewayUnavailable,
                    detail: "no call is made to Apple until \(until): \(lastError.prefix(300))"))
        }
        return findings
    }
}

extension TokenTimeWatch.Anomaly {
    fileprivate var detail: String {
        let seconds = medianOffset.components.seconds
        let side = seconds < 0 ? "ahead of" : "behind"
        return
            "genuine tokens of \(refusing) of the last \(merchants) merchants are refused for their signing time, by the median \(abs(seconds)) seconds: the machine's clock seems to be \(side) Apple's; correct it, and check that it is synchronized (chronyc tracking or timedatectl)"
    }
}
