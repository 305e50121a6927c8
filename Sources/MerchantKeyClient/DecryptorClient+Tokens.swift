import FoundationEssentials
import NIOHTTP1
import StrictJSON
package import Vocabulary
package import WireAPI

extension DecryptorClient {
    /// Decrypts a payment token and compares it with the expected payment.
    ///
    /// - Parameters:
    ///   - paymentData: the token's `paymentData`, the JSON text as it was received.
    ///   - expectation: the payment that the token must be for.
    ///   - claim: whether to claim the payment, so that no other call can decrypt the same token again.
    ///   - idempotencyKey: identifies the attempt, 1 to 255 visible ASCII characters. Generate it at random: with a key that
    ///     is derived from the token, every attempt would receive the plaintext; a key that contains the token's transactionId
    ///     is refused. After ``ClientError/unreachable(socketPath:why:)`` the payment may already be claimed: for an hour, the
    ///     same caller receives the same response by repeating the call with the same key. Without a key, a response that
    ///     was not received cannot be requested again.
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

    /// Checks a token. Needs no key, and claims nothing.
    ///
    /// - Parameter receivedAt: nil for now.
    package func verify(
        _ paymentData: [UInt8], receivedAt: Timestamp?
    ) async throws(ClientError) -> Response<VerificationDocument> {
        try await connection.fetch(
            SocketCall(
                method: .POST, path: Paths.verifyToken,
                body: try Self.body(paymentData, VerifyTerms(receivedAt: receivedAt))
            ))
    }

    /// The token verbatim, followed by the client's own fields.
    ///
    /// The token is untrusted text. Unless it is exactly one JSON object, its end could add one of the client's fields, such
    /// as `verify`.
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
    /// Always sent, because the daemon claims a token unless this is false.
    package let claim: Bool
    package var view: String?

    package init(expected: PaymentExpectation, claim: Bool) { (self.expected, self.claim) = (expected, claim) }
}

private struct VerifyTerms: Encodable {
    let receivedAt: Timestamp?
}
