package import PassProvisioning

/// What the sandbox's broker answers to a card, and why.
package struct BrokerAnswer: Sendable {
    /// Why the broker refuses the card; empty if it accepts the card. Apple's broker does not say this.
    package let findings: [any ProvisioningFinding]

    /// 200 or 500, as Apple's broker.
    package var status: Int { findings.isEmpty ? 200 : 500 }

    /// The text of Apple's broker for every error.
    package static let refusal = "Broker Service Response exception"

    /// The answer as text: the status, then one line for each finding.
    package var text: String {
        guard !findings.isEmpty else { return "200 OK\n" }
        let reasons = findings.map { "\($0.code): \($0.message); \($0.action)\n" }
        return "\(status) \(Self.refusal)\n" + reasons.joined()
    }

    /// The response over HTTP. The reasons are in the header that also the sandbox's gateway uses for them.
    var reply: GatewayReply {
        guard !findings.isEmpty else { return .empty }
        return .error(
            status, Self.refusal, details: findings.map { "\($0.code): \($0.message)" }.joined(separator: "; "))
    }
}
