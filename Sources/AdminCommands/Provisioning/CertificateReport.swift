import FoundationEssentials
import PassProvisioning
import StrictJSON
import Vocabulary

/// The result of each check of the certificates for card data encryption.
struct CertificateReport {
    private struct Row {
        let check: CertificateCheck
        /// Nil if the check passed, or was not performed.
        let finding: CertificateFinding?
        /// `passed`, `failed` or `notChecked`.
        let outcome: String
    }

    let findings: [CertificateFinding]
    private let summary: CertificateSummary
    private let rows: [Row]

    init(_ certificates: ProvisioningCertificates, findings: [CertificateFinding], trust: ProvisioningTrust) {
        self.findings = findings
        summary = certificates.summary
        rows = CertificateCheck.allCases.flatMap { check -> [Row] in
            let found = findings.filter { CertificateCheck(of: $0) == check }
            let isPerformed = check != .validityPeriods || trust.validityPeriod == .checked
            return found.isEmpty
                ? [Row(check: check, finding: nil, outcome: isPerformed ? "passed" : "notChecked")]
                : found.map { Row(check: check, finding: $0, outcome: "failed") }
        }
    }

    /// The output for `--output table`.
    var blocks: [Block] {
        [
            Self.record("leaf", summary.leaf), Self.record("subCA", summary.subCA),
            .table(
                headings: ["CHECK", "OUTCOME", "FAULT"],
                rows: rows.map { row in
                    [Cell(row.check.rawValue), Cell(outcome: row.outcome), Cell(row.finding?.line)]
                }),
        ]
    }

    /// The output for `--output json`.
    var document: JSONValue {
        .object(
            JSONObject(members: [
                .init(name: "verified", value: .bool(findings.isEmpty)),
                .init(name: "swapped", value: .bool(summary.isSwapped)),
                .init(name: "leaf", value: Self.entryDocument(summary.leaf)),
                .init(name: "subCA", value: Self.entryDocument(summary.subCA)),
                .init(name: "checks", value: .array(rows.map { Self.rowDocument($0) })),
            ]))
    }

    private static func record(_ role: String, _ entry: CertificateSummary.Entry) -> Block {
        .record([
            (role, Cell(entry.subject, .heading)), ("issuer", Cell(entry.issuer)),
            ("serial number", Cell(entry.serialNumber)),
            ("valid from (UTC)", Cell(Timestamp(entry.notBefore).rfc3339)),
            ("valid to (UTC)", Cell(Timestamp(entry.notAfter).rfc3339)),
        ])
    }

    private static func entryDocument(_ entry: CertificateSummary.Entry) -> JSONValue {
        .object(
            JSONObject(members: [
                .init(name: "subject", value: .string(entry.subject)),
                .init(name: "issuer", value: .string(entry.issuer)),
                .init(name: "serialNumber", value: .string(entry.serialNumber)),
                .init(name: "notBefore", value: .string(Timestamp(entry.notBefore).rfc3339)),
                .init(name: "notAfter", value: .string(Timestamp(entry.notAfter).rfc3339)),
            ]))
    }

    private static func rowDocument(_ row: Row) -> JSONValue {
        var members: [JSONObject.Member] = [
            .init(name: "check", value: .string(row.check.rawValue)),
            .init(name: "outcome", value: .string(row.outcome)),
        ]
        if let finding = row.finding {
            members.append(.init(name: "code", value: .string(finding.code)))
            members.append(.init(name: "message", value: .string(finding.message)))
            members.append(.init(name: "action", value: .string(finding.action)))
        }
        return .object(JSONObject(members: members))
    }
}
