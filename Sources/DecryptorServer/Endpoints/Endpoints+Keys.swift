import MerchantCore
import MerchantOperations
import NIOCore
import NIOHTTP1
import Secrets
import StrictJSON
import Vocabulary
import WireAPI

extension Endpoints {
    /// `GET /v1/keys/{publicKeyHash}`: reads.
    func resolve(_ target: RequestTarget, _ peer: Peer) throws -> Answer {
        let hash = try Self.named(by: target)
        let now = operations.now
        if let known = answers.answer(for: hash, at: now) {
            try peer.require(.resolve, of: hash, for: known.merchantIdentifier)
            known.uses?.record(at: now)
            return .now(known.response)
        }
        return .blocking {
            try read(hash) { try peer.require(.resolve, of: hash, for: $0) }.response
        }
    }

    /// `GET /v1/keys/{publicKeyHash}?include=privateKey`: reads, and writes to the audit before the key leaves.
    func exportPrivateKey(_ target: RequestTarget, method: HTTPMethod, _ peer: Peer) throws -> Answer {
        let hash = try Self.named(by: target)
        guard method == .GET else {
            throw MerchantError(.malformed, "found \(method.rawValue) with include=privateKey, expected GET")
        }
        try peer.require(.exportPrivateKey, of: hash)
        return .waiting(Request(caller: peer.caller, requestId: RequestId.make())) { request in
            try await export(hash, peer, for: request)
        }
    }

    /// `POST /v1/keys/{publicKeyHash}/symmetric-key`: reads.
    ///
    /// A key agreement takes 50 µs, less than a hop to another thread and back would add to the wait of everybody behind
    /// it; an RSA key takes a millisecond, too long for an event loop.
    func symmetricKey(_ target: RequestTarget, _ body: ByteBuffer, _ peer: Peer) throws -> Answer {
        let hash = try Self.named(by: target)
        let asked = try SymmetricKeyRequest(JSONFields(parsing: body.readableBytesView))
        let material = try Self.material(asked)
        let now = operations.now
        if let known = answers.answer(for: hash, at: now), known.algorithm == .ecV1 {
            let response = try symmetricKey(known, hash, material, peer)
            known.uses?.record(at: now)
            return .now(response)
        }
        return .blocking {
            let now = operations.now
            guard let known = answers.answer(for: hash, at: now) else {
                // Counted where it is read.
                let known = try read(hash) { try peer.require(.symmetricKey, of: hash, for: $0) }
                return try symmetricKey(known, hash, material, peer)
            }
            let response = try symmetricKey(known, hash, material, peer)
            known.uses?.record(at: now)
            return response
        }
    }

    private static func named(by target: RequestTarget) throws(MerchantError) -> PublicKeyHash {
        guard let hash = target.publicKeyHash else {
            throw MerchantError(.internalError, "the route \(target.route.path) names no key")
        }
        return hash
    }

    private func symmetricKey(
        _ known: AnswerCache.Answer, _ hash: PublicKeyHash, _ material: SymmetricKeyMaterial, _ peer: Peer
    ) throws -> Response {
        try peer.require(.symmetricKey, of: hash, for: known.merchantIdentifier)
        guard material.algorithm == known.algorithm else {
            throw MerchantError(
                .tokenKeyMismatch,
                "found what an \(material.algorithm.rawValue) token carries, the key \(hash) is \(known.algorithm.rawValue)"
            )
        }
        let key = try operations.symmetricKey(hash, from: material)
        return key.withUnsafeBytes { key in
            Response(.ok, bodyCapacity: 20 + ByteBuffer.base64Length(of: key.count), holdsSecret: true) { body in
                body.writeStaticString("{\"symmetricKey\":\"")
                body.writeBase64(key)
                body.writeStaticString("\"}")
            }
        }
    }

    private static func material(_ asked: SymmetricKeyRequest) throws(MerchantError) -> SymmetricKeyMaterial {
        func bytes(_ text: String, _ name: String) throws(MerchantError) -> [UInt8] {
            guard let bytes = Base64.decode(text), bytes.count <= 512 else {
                throw MerchantError(
                    .malformed, "'\(name)' is not Base64 of at most 512 bytes, expected the standard alphabet, padded")
            }
            return Array(bytes)
        }
        if let text = asked.ephemeralPublicKey {
            return .ephemeralPublicKey(try bytes(text, "ephemeralPublicKey"))
        }
        return .wrappedKey(try bytes(asked.wrappedKey ?? "", "wrappedKey"))
    }

    /// Reads the store, and keeps the answer unless the key changed meanwhile.
    ///
    /// - Parameters:
    ///   - countsAsUse: as in ``PaymentTokenOperations/resolveNow(_:countsAsUse:authorizing:)``.
    ///   - judge: throws where the caller has no permit for the key's merchant.
    func read(
        _ hash: PublicKeyHash, countsAsUse: Bool = true, judging judge: (MerchantIdentifier) throws -> Void
    ) throws -> AnswerCache.Answer {
        let ticket = answers.ticket(for: hash)
        let now = operations.now
        let key = try operations.resolveNow(hash, countsAsUse: countsAsUse, authorizing: judge)
        let body = JSONBytes.encode(ResolvedKeyDocument(key))
        let answer = AnswerCache.Answer(
            merchantIdentifier: key.keyPair.merchantIdentifier, algorithm: key.keyPair.algorithm,
            response: Response(.ok, bodyCapacity: body.count) { $0.writeBytes(body) }.compacted, readAt: now,
            uses: operations.useCounter(for: hash))
        answers.fill(answer, for: hash, ticket)
        return answer
    }

    private func export(_ hash: PublicKeyHash, _ peer: Peer, for request: Request) async throws -> Response {
        let key = try await blockingPool.run {
            try operations.resolveNow(hash) { merchant in
                try peer.require(.resolve, of: hash, for: merchant)
                try peer.require(.exportPrivateKey, of: hash, for: merchant)
            }
        }
        let document = JSONBytes.encode(ResolvedKeyDocument(key))
        let privateKey = try await operations.exportPrivateKey(hash, for: request)
        return privateKey.withUnsafeBytes { pem in
            // At worst every byte is a line end and takes two.
            Response(
                .ok, fields: [("X-Request-Id", request.requestId)],
                bodyCapacity: document.count + 20 + 2 * pem.count, holdsSecret: true
            ) { body in
                body.writeBytes(document.dropLast())
                body.writeStaticString(",\"privateKey\":\"")
                body.writeEscapingLineEnds(pem)
                body.writeStaticString("\"}")
            }
        }
    }
}

extension ResolvedKeyDocument {
    /// Without the private key, which no copyable value holds.
    fileprivate init(_ key: DecryptionKey) {
        self.init(
            publicKeyHash: key.keyPair.publicKeyHash.base64,
            merchantIdentifier: key.keyPair.merchantIdentifier.rawValue,
            merchantIdentifierHash: MerchantIdentifierHash(of: key.keyPair.merchantIdentifier).hex,
            algorithm: key.keyPair.algorithm.rawValue, state: key.keyPair.state.rawValue,
            certificate: PEM.encode(key.certificate.der, label: "CERTIFICATE"),
            notBefore: key.certificate.notBefore.rfc3339, notAfter: key.certificate.notAfter.rfc3339, privateKey: nil)
    }
}
