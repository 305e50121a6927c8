package import Vocabulary

extension NotConfiguredGateway: MerchantTokenGateway {
    package func event(
        _ event: MerchantTokenEventIdentifier, of merchant: MerchantIdentifier, as owner: IdentityOwner
    ) async throws(GatewayError) -> MerchantTokenEvent { throw refusal }

    package func unlink(
        _ token: MerchantTokenIdentifier, of merchant: MerchantIdentifier, as owner: IdentityOwner
    ) async throws(GatewayError) { throw refusal }

    package func setNotificationURL(
        _ url: String, of token: MerchantTokenIdentifier, of merchant: MerchantIdentifier, as owner: IdentityOwner
    ) async throws(GatewayError) { throw refusal }

    package func publicKey(
        of token: MerchantTokenIdentifier, of merchant: MerchantIdentifier, as owner: IdentityOwner
    ) async throws(GatewayError) -> MerchantTokenPublicKey? { throw refusal }

    package func notifyUsageInformation(
        of token: MerchantTokenIdentifier, of merchant: MerchantIdentifier, as owner: IdentityOwner
    ) async throws(GatewayError) { throw refusal }
}
