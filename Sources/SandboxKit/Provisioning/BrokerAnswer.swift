package import PassProvisioning

/// The response of the simulated broker (Apple's server that receives encrypted card data) to one card, and the
/// reasons for a refusal.
package struct BrokerAnswer: Sendable {
    /// Why the broker refuses the card; empty if it accepts the card. Apple's broker gives no reasons.
    package let findings: [any ProvisioningFinding]

    /// 200 or 500, the only codes that Apple's broker returns.
    package var status: Int { findings.isEmpty ? 200 : 500 }

    /// The text of Apple's broker for every error.
    package static let refusal = "Broker Service Response exception"

    /// The answer as text: the status, then one line for each finding.
    package var text: String {
        guard !findings.isEmpty else { return "200 OK\n" }
        let reasons = findings.map { "\($0.code): \($0.message); \($0.action)\n" }
        return "\(status) \(Self.refusal)\n" + reasons.joined()
    }

    /// The response over HTTP. The reasons are in the header `x-apay-service-response-details`.
    var reply: GatewayReply {
        guard !findings.isEmpty else { return .empty }
        return .error(
            status, Self.refusal, details: findings.map { "\($0.code): \($0.message)" }.joined(separator: "; "))
    }
}
