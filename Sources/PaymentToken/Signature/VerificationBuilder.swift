import FoundationEssentials

/// Collects the results of checks for a ``TokenVerification``. A check without a result becomes `notChecked`.
struct VerificationBuilder {
    private var checks: [TokenVerification.CheckName: TokenVerification.Check] = [:]
    var signingTime: ASN1Time?

    mutating func pass(_ name: TokenVerification.CheckName, _ finding: String) {
        checks[name] = .init(name: name, outcome: .passed, finding: finding, failureReason: nil)
    }

    mutating func fail(_ name: TokenVerification.CheckName, reason: FailureReason, _ finding: String) {
        checks[name] = .init(name: name, outcome: .failed, finding: finding, failureReason: reason)
    }

    func verification() -> TokenVerification {
        TokenVerification(
            checks: TokenVerification.CheckName.allCases.map { checks[$0] ?? .notChecked($0) },
            signingTime: signingTime?.date)
    }
}
