package import Vocabulary

/// Takes the place of Apple's gateway if the daemon has no client certificate for Apple. Each call fails with an error
/// that says what is missing.
package struct NotConfiguredGateway: RegistrationGateway {
    package static let standardDetail =
        "there is no client certificate for Apple's gateway: give the platform integrator an active key pair with the purpose identity, or set apple.gateway.identity.certificate and apple.gateway.identity.private-key"

    private let detail: String

    package init(_ detail: String = standardDetail) { self.detail = detail }

    package func register(_ request: GatewayRegistration) async throws(GatewayError) -> GatewayReceipt {
        throw refusal
    }

    package func unregister(
        _ partner: PartnerInternalMerchantIdentifier, domainNames: [DomainName], reason: String
    ) async throws(GatewayError) { throw refusal }

    package func details(
        of partner: PartnerInternalMerchantIdentifier
    ) async throws(GatewayError) -> GatewayDetails? { throw refusal }

    package var health: GatewayHealth { .notConfigured(detail) }

    var refusal: GatewayError { GatewayError(.identityUnusable, detail, mayHaveActed: false) }
}
