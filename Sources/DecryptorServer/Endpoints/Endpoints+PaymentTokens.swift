import MerchantCore
import MerchantOperations
import NIOCore
import NIOHTTP1
import PaymentToken
import StrictJSON
import Vocabulary
import WireAPI

extension Endpoints {
    /// `POST /v1/payment-tokens/verify`: reads; needs no stored key, claims nothing.
    func verifyToken(_ body: ByteBuffer, _ peer: Peer) -> Answer {
        .blocking {
            let asked = try VerifyTokenRequest(JSONFields(parsing: body.readableBytesView))
            if asked.receivedAt != nil { try peer.require(.judgeAtOtherTime) }
            var document = ByteBuffer()
            document.writeVerification(operations.verify(asked.token, receivedAt: asked.receivedAt), [])
            return Response(.ok, bodyCapacity: document.readableBytes) { $0.writeImmutableBuffer(document) }
        }
    }

    /// `POST /v1/payment-tokens/decrypt`: claims the token, and writes to the audit what must be accountable.
    func decryptToken(_ asked: DecryptorRequest, _ peer: Peer) -> Answer {
        .waiting(Request(caller: peer.caller, requestId: RequestId.make())) { recorded in
            let order = try DecryptTokenRequest(JSONFields(parsing: asked.body.readableBytesView))
            let hash = order.token.publicKeyHash
            for permit in order.permits { try peer.require(permit, of: hash) }
            let permits = order.permits
            let key: TokenKey
            do {
                key = try await self.key(hash) { merchant in
                    for permit in permits { try peer.require(permit, of: hash, for: merchant) }
                }
            } catch let error as MerchantError where error.code == .keyRevoked || error.code == .keyDestroyed {
                operations.countRequestForRevokedKey(by: order.token, order.terms)
                throw error
            }
            let request = Request(
                caller: peer.caller, requestId: recorded.requestId,
                idempotency: try Request.Idempotency(
                    lines: asked.idempotencyKeys, caller: peer.caller, operation: "POST \(Paths.decryptToken)",
                    body: Array(asked.body.readableBytesView)))
            let opened = try await operations.open(order.token, with: key, on: order.terms, for: request)
            return Self.response(opened, order.view, request)
        }
    }

    /// From memory, or read by a thread that may wait. Counts no use: the token has yet to show that it is one.
    ///
    /// - Parameter judge: throws where the caller has no permit for the key's merchant.
    private func key(
        _ hash: PublicKeyHash, judging judge: @escaping @Sendable (MerchantIdentifier) throws -> Void
    ) async throws -> TokenKey {
        let known: AnswerCache.Answer
        let now = operations.now
        if let kept = answers.answer(for: hash, at: now) {
            try judge(kept.merchantIdentifier)
            known = kept
        } else {
            known = try await blockingPool.run { try read(hash, countsAsUse: false, judging: judge) }
        }
        return TokenKey(
            publicKeyHash: hash, merchantIdentifier: known.merchantIdentifier, algorithm: known.algorithm)
    }

    /// The plaintext goes from its own memory straight into the answer's, which is overwritten once it was sent.
    private static func response(
        _ opened: borrowing OpenedToken, _ view: DecryptTokenRequest.View?, _ request: Request
    ) -> Response {
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
            Response(
                .ok, fields: [("X-Request-Id", request.requestId)],
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
