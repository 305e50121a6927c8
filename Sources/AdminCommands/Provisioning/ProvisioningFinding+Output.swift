import PassProvisioning
import StrictJSON

extension ProvisioningFinding {
    /// The finding on one line: what failed, and what to do.
    var line: String { "\(code): \(message); \(action)" }

    /// Whether Apple may accept the card in spite of the finding.
    var isWarning: Bool {
        switch self {
        case let finding as CardDataFinding: finding.isWarning
        case let finding as PassDataFinding: finding.isWarning
        default: false
        }
    }

    /// The finding as a JSON object.
    var document: JSONValue {
        .object(
            JSONObject(members: [
                .init(name: "code", value: .string(code)),
                .init(name: "severity", value: .string(isWarning ? "warning" : "fault")),
                .init(name: "message", value: .string(message)),
                .init(name: "action", value: .string(action)),
            ]))
    }
}

extension CommandFailure {
    /// The failure of a command because of a fault that the checks of in-app provisioning found.
    init(_ finding: some ProvisioningFinding) { self.init(.failed, finding.line) }
}

extension Block {
    /// The findings as a table.
    static func findings(_ findings: [any ProvisioningFinding]) -> Block {
        .table(
            headings: ["FINDING", "SEVERITY", "MESSAGE", "WHAT TO DO"],
            rows: findings.map { finding in
                [
                    Cell(finding.code), finding.isWarning ? Cell("warning", .warning) : Cell("fault", .critical),
                    Cell(finding.message), Cell(finding.action),
                ]
            })
    }
}
