import MerchantCore
import MerchantOperations
import NIOCore
import NIOHTTP1
import PaymentToken
import StrictJSON
import Vocabulary
import WireAPI

extension Endpoints {
    /// Judges a token's signature, chain, environment and time.
    private func verify(_ token: ApplePayToken, receivedAt: Timestamp?) -> TokenVerification {
        operations.verify(token, receivedAt: receivedAt)
    }

    /// The same, for a token that is to be decrypted.
    ///
    /// - Throws: `tokenNotVerified`, naming every check that failed and what it found.
    private func verified(
        _ token: ApplePayToken, receivedAt: Timestamp?
    ) throws(MerchantError) -> VerificationDocument {
        let verification = verify(token, receivedAt: receivedAt)
        guard verification.isVerified else {
            let refusals = verification.refusals.map { "\($0.name.rawValue): \($0.finding)" }
            throw MerchantError(.tokenNotVerified, refusals.joined(separator: "; "))
        }
        return VerificationDocument(verification)
    }

    /// `POST /v1/payment-tokens/verify`: reads; needs no stored key, claims nothing.
    func verifyToken(_ body: ByteBuffer, _ peer: Peer) -> Answer {
        .blocking {
            let asked = try VerifyTokenRequest(JSONFields(parsing: body.readableBytesView))
            if asked.receivedAt != nil { try peer.grants.require(.judgeAtOtherTime) }
            let document = VerificationDocument(verify(asked.token, receivedAt: asked.receivedAt))
            let answer = JSONBytes.encode(document)
            return Response(.ok, bodyCapacity: answer.count) { $0.writeBytes(answer) }
        }
    }

    /// `POST /v1/payment-tokens/decrypt`: reads, and writes to the audit what must be accountable.
    func decryptToken(_ body: ByteBuffer, _ peer: Peer) -> Answer {
        .waiting(Request(caller: peer.caller, requestId: RequestId.make())) { request in
            let asked = try DecryptTokenRequest(JSONFields(parsing: body.readableBytesView))
            guard !asked.claims else {
                throw MerchantError(
                    .notYetAvailable, "'claim' is true, expected it absent: tokens cannot be claimed yet")
            }
            let permits = Self.permits(of: asked)
            for permit in permits { try peer.grants.require(permit) }
            let key = try await blockingPool.run { try operations.resolveNow(asked.token.publicKeyHash) }
            for permit in permits { try peer.grants.require(permit, for: key.keyPair.merchantIdentifier) }
            let verification =
                asked.verifies ? try verified(asked.token, receivedAt: asked.receivedAt) : .notVerified
            let decrypted = try await operations.decrypt(
                asked.token, with: key, expecting: asked.expectations, isVerified: asked.verifies, for: request)
            if let moment = asked.receivedAt {
                try await operations.record(
                    .tokenJudgedAtOtherTime, merchant: decrypted.merchantIdentifier, key: decrypted.publicKeyHash,
                    reason: "transactionId \(asked.token.transactionId.hex), judged at \(moment)", for: request)
            }
            return Self.response(decrypted, verification, request)
        }
    }

    private static func permits(of asked: DecryptTokenRequest) -> [Permit] {
        [.decrypt] + (asked.verifies ? [] : [.decryptUnverified])
            + (asked.receivedAt == nil ? [] : [.judgeAtOtherTime])
    }

    /// The plaintext goes from its own memory straight into the answer's, which is overwritten once it was sent.
    private static func response(
        _ decrypted: borrowing DecryptedToken, _ verification: VerificationDocument, _ request: Request
    ) -> Response {
        let rest = JSONBytes.encode(
            Rest(
                merchantIdentifier: decrypted.merchantIdentifier.rawValue,
                publicKeyHash: decrypted.publicKeyHash.base64,
                verification: VerificationDocument(
                    verified: verification.verified,
                    checks: verification.checks + decrypted.checks.map(CheckDocument.init))))
        return decrypted.plaintext.withPlaintext { plaintext in
            Response(
                .ok, fields: [("X-Request-Id", request.requestId)],
                bodyCapacity: plaintext.count + ByteBuffer.base64Length(of: plaintext.count) + rest.count + 40,
                holdsSecret: true
            ) { body in
                body.writeStaticString("{\"paymentData\":")
                body.writeBytes(plaintext)
                body.writeStaticString(",\"plaintext\":\"")
                body.writeBase64(plaintext)
                body.writeStaticString("\",")
                body.writeBytes(rest.dropFirst())
            }
        }
    }

    /// What the answer says beside the plaintext.
    private struct Rest: Encodable {
        let merchantIdentifier: String
        let publicKeyHash: String
        let verification: VerificationDocument
    }
}

extension VerificationDocument {
    /// Of a caller who asked for no verification, and may.
    fileprivate static let notVerified = VerificationDocument(
        verified: false,
        checks: [
            CheckDocument(check: "signature", outcome: "notChecked", finding: "the caller asked for no verification")
        ])
}

extension CheckDocument {
    fileprivate init(_ check: ExpectationCheck) {
        self.init(check: check.name, outcome: check.outcome.rawValue, finding: check.finding)
    }
}

extension VerificationDocument {
    fileprivate init(_ verification: TokenVerification) {
        self.init(
            verified: verification.isVerified,
            checks: verification.checks.map {
                CheckDocument(check: $0.name.rawValue, outcome: $0.outcome.rawValue, finding: $0.finding)
            })
    }
}
