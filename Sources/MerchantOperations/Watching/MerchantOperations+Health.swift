import MerchantCore
import Vocabulary

extension MerchantOperations {
    /// What is wrong with the daemon itself now, each problem on its own. Quick, and waits for nothing.
    package func healthFindings() -> [StatusFinding] {
        var findings = conditions() + damage.findings
        func critical(_ code: StatusFinding.Code, _ detail: String) {
            findings.append(StatusFinding(severity: .critical, code: code, detail: detail))
        }
        switch claims.health {
        case .ready: break
        case .impaired(let error, _), .failed(let error):
            critical(.claimsRefused, "payment tokens cannot be claimed: \(error.detail)")
        }
        if let anomaly = tokenTimes.anomaly(at: clock.now) { critical(.clockWrong, anomaly.words) }
        if case .circuitOpen(let until, let lastError) = gateway.circuitHealth {
            findings.append(
                StatusFinding(
                    severity: .warning, code: .gatewayUnavailable,
                    detail: "Apple is not asked until \(until): \(lastError.prefix(300))"))
        }
        return findings
    }
}

extension TokenTimeWatch.Anomaly {
    fileprivate var words: String {
        let seconds = medianOffset.components.seconds
        let side = seconds < 0 ? "ahead of" : "behind"
        return
            "genuine tokens of \(refusing) of the last \(merchants) merchants are refused for their signing time, by the median \(abs(seconds)) seconds: the machine's clock seems to be \(side) Apple's; correct it, and check that it is synchronized (chronyc tracking or timedatectl)"
    }
}
