import Foundation
package import MerchantCore
package import Vocabulary

// The Merchant Token Management API.
extension AppleGateway: MerchantTokenGateway {
    /// Apple's limit for the merchant identifier in a path, in characters.
    private static let longestMerchantIdentifier = 64

    package func event(
        _ event: MerchantTokenEventIdentifier, of merchant: MerchantIdentifier, as owner: IdentityOwner
    ) async throws(GatewayError) -> MerchantTokenEvent {
        let path = "event/\(GatewayEndpoint.percentEncoded(event.rawValue))"
        // Apple's guide, which says POST, describes no body. So the body is an empty JSON object.
        let body = settings.eventMethod == .post ? Data("{}".utf8) : nil
        return try await call(.merchantTokenEvent, path, of: merchant, as: owner, body) {
            response throws(GatewayError) in try response.merchantTokenEvent()
        }
    }

    package func unlink(
        _ token: MerchantTokenIdentifier, of merchant: MerchantIdentifier, as owner: IdentityOwner
    ) async throws(GatewayError) {
        try await change(.unlinkMerchantToken, "unlink", of: merchant, as: owner, TokenRequest(token))
    }

    package func setNotificationURL(
        _ url: String, of token: MerchantTokenIdentifier, of merchant: MerchantIdentifier, as owner: IdentityOwner
    ) async throws(GatewayError) {
        try await change(
            .updateMerchantMetadata, "updateMerchantMetadata", of: merchant, as: owner,
            UpdateMerchantMetadataRequest(token, url))
    }

    package func publicKey(
        of token: MerchantTokenIdentifier, of merchant: MerchantIdentifier, as owner: IdentityOwner
    ) async throws(GatewayError) -> MerchantTokenPublicKey? {
        let body = try GatewayJSON.encode(TokenRequest(token))
        return try await call(.merchantTokenPublicKey, "publicKey", of: merchant, as: owner, body) {
            response throws(GatewayError) in try response.merchantTokenPublicKey()
        }
    }

    package func notifyUsageInformation(
        of token: MerchantTokenIdentifier, of merchant: MerchantIdentifier, as owner: IdentityOwner
    ) async throws(GatewayError) {
        try await change(.notifyMerchantToken, "notify", of: merchant, as: owner, TokenRequest(token))
    }

    /// Accepts every status from 200 to 299: Apple documents 204 for one operation, 200 for another, and no status for
    /// the third.
    private func change(
        _ operation: GatewayOperation, _ path: String, of merchant: MerchantIdentifier, as owner: IdentityOwner,
        _ document: some Encodable
    ) async throws(GatewayError) {
        try await call(operation, path, of: merchant, as: owner, try GatewayJSON.encode(document)) {
            response throws(GatewayError) in try response.requireSuccess(200...299)
        }
    }

    private func call<Value: Sendable>(
        _ operation: GatewayOperation, _ path: String, of merchant: MerchantIdentifier, as owner: IdentityOwner,
        _ body: Data?, read: (GatewayResponse) throws(GatewayError) -> Value
    ) async throws(GatewayError) -> Value {
        guard merchant.rawValue.count <= Self.longestMerchantIdentifier else {
            throw GatewayError(
                .refused,
                "the merchant identifier has \(merchant.rawValue.count) characters; Apple's Merchant Token Management API accepts at most \(Self.longestMerchantIdentifier)",
                mayHaveActed: false)
        }
        var call = GatewayCall(
            operation, as: owner, settings.endpoint.merchantToken(path, of: merchant), body, limits)
        call.headers.append(("x-request-id", UUID().uuidString.lowercased()))
        // Apple requires this header also for GET.
        if body == nil { call.headers.append(("Content-Type", "application/json")) }
        return try await transport.call(call, read: read).value
    }
}

/// The body of most calls of the API.
private struct TokenRequest: Encodable {
    let merchantTokenIdentifier: String

    init(_ token: MerchantTokenIdentifier) { merchantTokenIdentifier = token.rawValue }
}

/// The body of a call that sets the URL for a token's notifications.
private struct UpdateMerchantMetadataRequest: Encodable {
    struct Metadata: Encodable {
        let tokenNotificationURL: String
    }

    let merchantMetadata: Metadata
    let merchantTokenIdentifier: String

    init(_ token: MerchantTokenIdentifier, _ url: String) {
        merchantMetadata = Metadata(tokenNotificationURL: url)
        merchantTokenIdentifier = token.rawValue
    }
}
