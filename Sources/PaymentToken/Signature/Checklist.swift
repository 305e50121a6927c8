import FoundationEssentials

/// Findings on their way to a ``TokenVerification``. A check nobody recorded stays `notChecked`.
struct Checklist {
    private var found: [TokenVerification.CheckName: TokenVerification.Check] = [:]
    var signingTime: ASN1Time?

    mutating func pass(_ name: TokenVerification.CheckName, _ finding: String) {
        found[name] = .init(name: name, outcome: .passed, finding: finding)
    }

    mutating func fail(_ name: TokenVerification.CheckName, _ finding: String) {
        found[name] = .init(name: name, outcome: .failed, finding: finding)
    }

    mutating func record(_ name: TokenVerification.CheckName, passed: Bool, _ finding: String) {
        passed ? pass(name, finding) : fail(name, finding)
    }

    func verification() -> TokenVerification {
        TokenVerification(
            checks: TokenVerification.CheckName.allCases.map { name in
                found[name] ?? .init(name: name, outcome: .notChecked, finding: TokenVerification.nothingToJudge)
            },
            signingTime: signingTime?.date)
    }
}
