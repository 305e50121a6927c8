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
    ///   - claim: whether the daemon records that the token was used (a claim). Later calls that claim the same token
    ///     are then refused, except a repeat of this call with the same `idempotencyKey`.
    ///   - idempotencyKey: identifies this attempt to take the payment, 1 to 255 visible ASCII characters. If the call
    ///     throws ``ClientError/unreachable(socketPath:why:)``, the payment may already be claimed: repeat the
    ///     identical call with the same key. For an hour, the same caller then receives the same response. Without a
    ///     key, a response that was not received cannot be requested again. Generate the key at random. If it were
    ///     derived from the token, every attempt would count as a repeat and receive the plaintext. The daemon refuses
    ///     a key that contains the token's transactionId.
    public func decrypt(
        _ paymentData: [UInt8], expecting expectation: PaymentExpectation, claim: Bool, idempotencyKey: String? = nil
    ) async throws(ClientError) -> DecryptedToken {
        let response = try await decrypt(
            paymentData, DecryptTerms(expected: expectation, claim: claim), idempotencyKey: idempotencyKey)
        return try DecryptedToken(response.document)
    }

    package func decrypt(
        _ paymentData: [UInt8], _ terms: DecryptTerms, idempotencyKey: String? = nil
    ) async throws(ClientError) -> Response<DecryptedTokenDocument> {
        try await connection.fetch(
            SocketCall(
                method: .POST, path: Paths.decryptToken, body: try Self.body(paymentData, terms),
                idempotencyKey: idempotencyKey))
    }

    /// Verifies a token. The daemon needs no private key for this, and does not claim the token.
    ///
    /// - Parameter receivedAt: the time of receipt for which the token is verified; nil for the present.
    package func verify(
        _ paymentData: [UInt8], receivedAt: Timestamp?
    ) async throws(ClientError) -> Response<VerificationDocument> {
        try await connection.fetch(
            SocketCall(
                method: .POST, path: Paths.verifyToken,
                body: try Self.body(paymentData, VerifyTerms(receivedAt: receivedAt))
            ))
    }

    /// The body of a request: the unchanged text of the token, followed by the fields of `terms`.
    ///
    /// The token is untrusted text, so it is parsed first. If it were more than one JSON object, the text after the
    /// object could set a field of the request, such as `verify`.
    private static func body(_ paymentData: [UInt8], _ terms: some Encodable) throws(ClientError) -> SocketCall.Body {
        do {
            _ = try JSONFields(parsing: paymentData)
        } catch {
            throw .malformed("the payment token can't be parsed: \(error)")
        }
        let rest = try SocketCall.Body.encoded(terms).bytes.dropFirst()
        var body = Data("{\"paymentData\":".utf8)
        body.append(contentsOf: paymentData)
        if rest.count > 1 { body.append(UInt8(ascii: ",")) }
        body.append(rest)
        return .json(body)
    }
}

/// The fields of `POST /v1/payment-tokens/decrypt` besides the token.
package struct DecryptTerms: Encodable, Sendable {
    package let expected: PaymentExpectation
    package var verify: Bool?
    package var receivedAt: Timestamp?
    /// Not optional, because the daemon claims the token if the field is absent.
    package let claim: Bool
    package var view: String?

    package init(expected: PaymentExpectation, claim: Bool) { (self.expected, self.claim) = (expected, claim) }
}

private struct VerifyTerms: Encodable {
    let receivedAt: Timestamp?
}
