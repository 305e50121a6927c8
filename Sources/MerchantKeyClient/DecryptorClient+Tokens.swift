import FoundationEssentials
import NIOHTTP1
import StrictJSON
package import WireAPI

extension DecryptorClient {
    /// Decrypts a payment token and checks it against what the payment was to be.
    ///
    /// - Parameters:
    ///   - paymentData: the token's `paymentData`, the JSON text as it was received.
    ///   - expectation: what the token must be for.
    ///   - claim: whether this payment is to be taken now, so that no other call can decrypt the same token again.
    ///   - idempotencyKey: names the attempt, 1 to 255 visible ASCII characters. Make it random: with one that is derived from
    ///     the token every attempt would get the plaintext, and one that contains its transactionId is refused. After ``ClientError/unreachable(socketPath:why:)``
    ///     the payment may be taken: the same caller repeating the same call with the same key gets the answer again, for
    ///     an hour. Without a key a lost answer is lost for good.
    public func decrypt(
        _ paymentData: [UInt8], expecting expectation: PaymentExpectation, claim: Bool, idempotencyKey: String? = nil
    ) async throws(ClientError) -> DecryptedToken {
        let answer = try await decrypt(
            paymentData, DecryptTerms(expected: expectation, verify: nil, receivedAt: nil, claim: claim),
            idempotencyKey: idempotencyKey)
        return try DecryptedToken(answer.document)
    }

    package func decrypt(
        _ paymentData: [UInt8], _ terms: DecryptTerms, idempotencyKey: String? = nil
    ) async throws(ClientError) -> Answer<DecryptedTokenDocument> {
        try await connection.fetch(
            SocketCall(
                method: .POST, path: Paths.decryptToken, body: try Self.body(paymentData, terms),
                idempotencyKey: idempotencyKey))
    }

    /// Every check of a token, without a key and without a claim.
    ///
    /// - Parameter receivedAt: RFC 3339; nil for now.
    package func verify(
        _ paymentData: [UInt8], receivedAt: String?
    ) async throws(ClientError) -> Answer<VerificationDocument> {
        try await connection.fetch(
            SocketCall(
                method: .POST, path: Paths.verifyToken,
                body: try Self.body(paymentData, VerifyTerms(receivedAt: receivedAt))
            ))
    }

    /// The token verbatim, followed by our own fields.
    ///
    /// The token is a stranger's text. Unless it is exactly one JSON object, its end could smuggle in a field that
    /// belongs to us, such as `verify`.
    private static func body(_ paymentData: [UInt8], _ terms: some Encodable) throws(ClientError) -> SocketCall.Body {
        do {
            _ = try JSONFields(parsing: paymentData)
        } catch {
            throw .malformed("the payment token can't be read: \(error)")
        }
        let rest = try SocketCall.Body.encoded(terms).bytes.dropFirst()
        var body = Data("{\"paymentData\":".utf8)
        body.append(contentsOf: paymentData)
        if rest.count > 1 { body.append(UInt8(ascii: ",")) }
        body.append(rest)
        return .json(body)
    }
}

/// What `POST /v1/payment-tokens/decrypt` takes besides the token.
package struct DecryptTerms: Encodable, Sendable {
    package let expected: PaymentExpectation
    package let verify: Bool?
    /// RFC 3339.
    package let receivedAt: String?
    /// The daemon claims a token unless it is told not to.
    package let claim: Bool
    package let view: String?

    package init(
        expected: PaymentExpectation, verify: Bool?, receivedAt: String?, claim: Bool, view: String? = nil
    ) {
        self.expected = expected
        self.verify = verify
        self.receivedAt = receivedAt
        self.claim = claim
        self.view = view
    }
}

private struct VerifyTerms: Encodable {
    let receivedAt: String?
}
