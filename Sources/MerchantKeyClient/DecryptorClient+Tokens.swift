import FoundationEssentials
import NIOHTTP1
import StrictJSON
package import Vocabulary
package import WireAPI

extension DecryptorClient {
    /// Decrypts a payment token and compares it with the expected payment.
    ///
    /// - Parameters:
    ///   - paymentData: the JSON text of the token's `paymentData`, as it was received.
    ///   - expectation: the payment that the token must be for.
    ///   - claim: whether the daemon records that the token was used (a claim). The daemon then refuses later calls
    ///     that claim the same token, except a repeat of this call with the same `idempotencyKey`.
    ///   - idempotencyKey: identifies this attempt to take the payment, 1 to 255 visible ASCII characters. If the call
    ///     throws ``ClientError/unreachable(socketPath:why:)``, the token may already be claimed: repeat the identical
    ///     call with the same idempotency key. For one hour, the same caller then receives the same response. Without
    ///     an idempotency key, a lost response cannot be requested again. Generate a random idempotency key for each
    ///     attempt. If it were derived from the token, every attempt would count as a repeat and receive the plaintext.
    ///     The daemon refuses an idempotency key that contains the token's transactionId.
    public func decrypt(
        _ paymentData: [UInt8], expecting expectation: PaymentExpectation, claim: Bool, idempotencyKey: String? = nil
    ) async throws(ClientError) -> DecryptedToken {
        let response = try await decrypt(
            paymentData, DecryptParameters(expected: expectation, claim: claim), idempotencyKey: idempotencyKey)
        return try DecryptedToken(response.document)
    }

    package func decrypt(
        _ paymentData: [UInt8], _ parameters: DecryptParameters, idempotencyKey: String? = nil
    ) async throws(ClientError) -> Response<DecryptedTokenDocument> {
        try await httpClient.fetch(
            SocketCall(
                method: .POST, path: Paths.decryptToken, body: try Self.body(paymentData, parameters),
                idempotencyKey: idempotencyKey))
    }

    /// Verifies a token. The daemon needs no private key for the verification, and does not claim the token.
    ///
    /// - Parameter receivedAt: the token is verified as if it had been received at this time; nil for now.
    package func verify(
        _ paymentData: [UInt8], receivedAt: Timestamp?
    ) async throws(ClientError) -> Response<VerificationDocument> {
        try await httpClient.fetch(
            SocketCall(
                method: .POST, path: Paths.verifyToken,
                body: try Self.body(paymentData, VerifyParameters(receivedAt: receivedAt))
            ))
    }

    /// The body of a request: the unchanged text of the token, followed by the fields of `parameters`.
    ///
    /// The token is untrusted text, so this function checks that the text is exactly one JSON object. Without the
    /// check, text after the object could set a field of the request, such as `verify`.
    private static func body(
        _ paymentData: [UInt8], _ parameters: some Encodable
    ) throws(ClientError) -> SocketCall.Body {
        do {
            _ = try JSONFields(parsing: paymentData)
        } catch {
            throw .malformed("the payment token can't be parsed: \(error)")
        }
        // The JSON object of the parameters without its opening brace. If the object has no fields, only its closing
        // brace is left.
        let otherFields = try SocketCall.Body.encoded(parameters).bytes.dropFirst()
        var body = Data("{\"paymentData\":".utf8)
        body.append(contentsOf: paymentData)
        if otherFields.count > 1 { body.append(UInt8(ascii: ",")) }
        body.append(otherFields)
        return .json(body)
    }
}

/// The fields of a `POST /v1/payment-tokens/decrypt` request besides the token.
package struct DecryptParameters: Encodable, Sendable {
    package let expected: PaymentExpectation
    /// Whether the daemon verifies the token's signature; nil for the daemon's default, true.
    package var verify: Bool?
    /// The token is verified as if it had been received at this time; nil for now.
    package var receivedAt: Timestamp?
    /// Whether the daemon claims the token (records it as used). Not optional, so that each caller decides explicitly:
    /// if the field is absent, the daemon claims the token, even if the caller only wants to examine it.
    package let claim: Bool
    /// `authorization` requests the fields of an authorization message in addition to the payment data; nil for none.
    package var view: String?

    package init(expected: PaymentExpectation, claim: Bool) { (self.expected, self.claim) = (expected, claim) }
}

private struct VerifyParameters: Encodable {
    let receivedAt: Timestamp?
}
