import HTTPKit
import MerchantCore
import MerchantOperations
import NIOCore
import NIOHTTP1
import PaymentToken
import ServerKit
import StrictJSON
import Vocabulary
import WireAPI

extension Endpoints {
    /// `POST /v1/payment-tokens/verify`: verifies a token. Verification needs no stored key, and the token can still be
    /// decrypted afterwards. A request with a `receivedAt` verifies the token as of that time instead of now, and needs
    /// the permit `judgeAtOtherTime`.
    func verifyToken(_ body: ByteBuffer, _ peer: Peer) -> ResponsePlan {
        .blocking {
            let request = try VerifyTokenRequest(JSONFields(parsing: body.readableBytesView))
            if request.receivedAt != nil { try peer.require(.judgeAtOtherTime) }
            var document = ByteBuffer()
            document.writeVerification(
                operations.verify(request.token, receivedAt: request.receivedAt), expectationChecks: [])
            return EncodedResponse(.ok, bodyCapacity: document.readableBytes) { $0.writeImmutableBuffer(document) }
        }
    }

    /// `POST /v1/payment-tokens/decrypt`: decrypts a token and claims it. To claim a token is to record that it was
    /// used, so that the daemon refuses every other request that claims it. The token is not claimed if the request has
    /// `"claim": false`, `"verify": false` or a `receivedAt`. The audit records unusual requests, such as a decryption
    /// without verification, or with `any` as the expected merchant.
    func decryptToken(_ received: DecryptorRequest, _ peer: Peer) -> ResponsePlan {
        .suspending(received.operationRequest(of: peer)) { initial in
            let decryption = try DecryptTokenRequest(JSONFields(parsing: received.body.readableBytesView))
            let hash = decryption.token.publicKeyHash
            // The merchant is not known before the key is found. So this first check refuses only a caller who has the
            // permits for no merchant: such a caller must not find out which keys exist. After the key is found, the
            // second check requires the permits for the key's merchant.
            for permit in decryption.permits { try peer.require(permit, of: hash) }
            let permits = decryption.permits
            let key: TokenKey
            do {
                key = try await self.key(hash) { merchant in
                    for permit in permits { try peer.require(permit, of: hash, for: merchant) }
                }
            } catch let error as MerchantError where error.code == .keyRevoked || error.code == .keyDestroyed {
                // Unless the token fails verification, the daemon counts such a request, and raises an event from time
                // to time: the revocation may have been a mistake.
                operations.countRequest(forUnusableKeyOf: decryption.token, terms: decryption.terms)
                throw error
            }
            // The Idempotency-Key is read only now, so that a caller without the permits gets `forbidden` even if this
            // key is malformed.
            let request = Request(
                caller: peer.caller, requestId: initial.requestId,
                idempotency: try Request.Idempotency(
                    fieldValues: received.idempotencyKeys, caller: peer.caller, operation: "POST \(Paths.decryptToken)",
                    body: Array(received.body.readableBytesView)))
            // `terms`: the values that the caller expects in the token, and how to verify the token.
            let opened = try await operations.open(
                decryption.token, with: key, on: decryption.terms, for: request, blockingOn: blockingPool)
            return Self.response(opened, decryption.view, request)
        }
    }

    /// Finds the key in the cache, or reads the key on a thread that may block. This method does not count a use of the
    /// key, because `operations.open` counts the use after the token was decrypted.
    ///
    /// - Parameter authorize: throws if the caller has no permit for the key's merchant.
    private func key(
        _ hash: PublicKeyHash, authorizing authorize: @escaping @Sendable (MerchantIdentifier) throws -> Void
    ) async throws -> TokenKey {
        let known: KeyResponseCache.Entry
        if let cached = responses.entry(for: hash) {
            try authorize(cached.merchantIdentifier)
            known = cached
        } else {
            known = try await blockingPool.run { try read(hash, countsAsUse: false, authorizing: authorize) }
        }
        return TokenKey(
            publicKeyHash: hash, merchantIdentifier: known.merchantIdentifier, algorithm: known.algorithm)
    }

    /// Writes the plaintext directly into the response's buffer, which is overwritten after the response was sent.
    private static func response(
        _ opened: borrowing OpenedToken, _ view: DecryptTokenRequest.View?, _ request: Request
    ) -> EncodedResponse {
        var rest = ByteBuffer()
        rest.writeStaticString(",\"merchantIdentifier\":")
        rest.writeJSONString(opened.key.merchantIdentifier.rawValue)
        rest.writeStaticString(",\"publicKeyHash\":")
        rest.writeJSONString(opened.key.publicKeyHash.base64)
        rest.writeStaticString(",\"verification\":")
        rest.writeVerification(opened.verification, expectationChecks: opened.checks)
        rest.writeStaticString("}")
        let authorization = view == .authorization ? AuthorizationView(opened.paymentData) : nil
        return opened.plaintext.withPlaintext { plaintext in
            EncodedResponse(
                .ok, fields: Self.jsonFields(request),
                bodyCapacity: plaintext.count + ByteBuffer.base64Length(of: plaintext.count)
                    + (authorization?.capacity ?? 0)
                    + rest.readableBytes + 64, holdsSecret: true
            ) { body in
                body.writeStaticString("{\"paymentData\":")
                body.writeBytes(plaintext)
                body.writeStaticString(",\"plaintext\":\"")
                body.writeBase64(plaintext)
                body.writeStaticString("\"")
                if let authorization {
                    body.writeStaticString(",\"authorization\":")
                    authorization.write(into: &body)
                }
                body.writeImmutableBuffer(rest)
            }
        }
    }
}

extension BlockingPool: BlockingThreads {}
