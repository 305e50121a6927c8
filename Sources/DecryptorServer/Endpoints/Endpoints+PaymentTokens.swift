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
    /// `POST /v1/payment-tokens/verify`: verifies a token. It needs no stored key, and does not claim the token.
    func verifyToken(_ body: ByteBuffer, _ peer: Peer) -> ResponsePlan {
        .blocking {
            let verification = try VerifyTokenRequest(JSONFields(parsing: body.readableBytesView))
            if verification.receivedAt != nil { try peer.require(.judgeAtOtherTime) }
            var document = ByteBuffer()
            document.writeVerification(operations.verify(verification.token, receivedAt: verification.receivedAt), [])
            return EncodedResponse(.ok, bodyCapacity: document.readableBytes) { $0.writeImmutableBuffer(document) }
        }
    }

    /// `POST /v1/payment-tokens/decrypt`: decrypts a token. Claims it, unless the request declines the claim or does
    /// not verify the token for the present. The audit records exceptions, such as a decryption without verification or
    /// for any merchant.
    func decryptToken(_ received: DecryptorRequest, _ peer: Peer) -> ResponsePlan {
        .waiting(Request(caller: peer.caller, requestId: RequestId.make())) { recorded in
            let decryption = try DecryptTokenRequest(JSONFields(parsing: received.body.readableBytesView))
            let hash = decryption.token.publicKeyHash
            for permit in decryption.permits { try peer.require(permit, of: hash) }
            let permits = decryption.permits
            let key: TokenKey
            do {
                key = try await self.key(hash) { merchant in
                    for permit in permits { try peer.require(permit, of: hash, for: merchant) }
                }
            } catch let error as MerchantError where error.code == .keyRevoked || error.code == .keyDestroyed {
                operations.countRequestForRevokedKey(by: decryption.token, decryption.terms)
                throw error
            }
            let request = Request(
                caller: peer.caller, requestId: recorded.requestId,
                idempotency: try Request.Idempotency(
                    fieldValues: received.idempotencyKeys, caller: peer.caller, operation: "POST \(Paths.decryptToken)",
                    body: Array(received.body.readableBytesView)))
            let opened = try await operations.open(decryption.token, with: key, on: decryption.terms, for: request)
            return Self.response(opened, decryption.view, request)
        }
    }

    /// Finds the key in the cache, or reads it on a thread that may block. It does not count a use of the key:
    /// `operations.open` does, after it has decrypted the token.
    ///
    /// - Parameter authorize: throws if the caller has no permit for the key's merchant.
    private func key(
        _ hash: PublicKeyHash, authorizing authorize: @escaping @Sendable (MerchantIdentifier) throws -> Void
    ) async throws -> TokenKey {
        let known: KeyResponseCache.Entry
        let now = operations.now
        if let kept = responses.entry(for: hash, at: now) {
            try authorize(kept.merchantIdentifier)
            known = kept
        } else {
            known = try await blockingPool.run { try read(hash, countsAsUse: false, authorizing: authorize) }
        }
        return TokenKey(
            publicKeyHash: hash, merchantIdentifier: known.merchantIdentifier, algorithm: known.algorithm)
    }

    /// Writes the plaintext directly into the response's buffer, which is overwritten after it was sent.
    private static func response(
        _ opened: borrowing OpenedToken, _ view: DecryptTokenRequest.View?, _ request: Request
    ) -> EncodedResponse {
        var rest = ByteBuffer()
        rest.writeStaticString(",\"merchantIdentifier\":")
        rest.writeJSONString(opened.key.merchantIdentifier.rawValue)
        rest.writeStaticString(",\"publicKeyHash\":")
        rest.writeJSONString(opened.key.publicKeyHash.base64)
        rest.writeStaticString(",\"verification\":")
        rest.writeVerification(opened.verification, opened.checks)
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
