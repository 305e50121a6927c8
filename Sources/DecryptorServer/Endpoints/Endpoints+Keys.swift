import HTTPKit
import MerchantCore
import MerchantOperations
import NIOCore
import NIOHTTP1
import Secrets
import ServerKit
import StrictJSON
import Vocabulary
import WireAPI

extension Endpoints {
    /// `GET /v1/keys/{publicKeyHash}`: returns the merchant, the certificate and the state of a key pair.
    func findKey(_ target: RouteMatch, _ peer: Peer) throws -> ResponsePlan {
        let hash = try Self.publicKeyHash(in: target)
        let now = operations.now
        if let known = responses.entry(for: hash, at: now) {
            try peer.require(.resolve, of: hash, for: known.merchantIdentifier)
            known.uses?.record(at: now)
            return .now(known.response)
        }
        return .blocking {
            try read(hash) { try peer.require(.resolve, of: hash, for: $0) }.response
        }
    }

    /// `GET /v1/keys/{publicKeyHash}?include=privateKey`: exports the private key. The audit records the export before
    /// the response is sent.
    func exportPrivateKey(_ target: RouteMatch, _ received: DecryptorRequest, _ peer: Peer) throws -> ResponsePlan {
        let hash = try Self.publicKeyHash(in: target)
        guard received.method.isGET else {
            throw MerchantError(
                .malformed, "include=privateKey needs the method GET, but the request has \(received.method.rawValue)")
        }
        try peer.require(.exportPrivateKey, of: hash)
        return .suspending(received.operationRequest(of: peer)) { request in
            try await export(hash, peer, for: request)
        }
    }

    /// `POST /v1/keys/{publicKeyHash}/symmetric-key`: restores the symmetric key of a token.
    ///
    /// A key agreement (EC_v1) takes 50 µs. If the key is cached, it runs on the event loop, because a switch to
    /// another thread and back would delay the following requests for longer. An RSA decryption (RSA_v1) takes a
    /// millisecond, which is too long for an event loop. A read of the store can take seconds if the database does not
    /// respond. Decryptions and reads therefore run on a thread that may block.
    func symmetricKey(_ target: RouteMatch, _ body: ByteBuffer, _ peer: Peer) throws -> ResponsePlan {
        let hash = try Self.publicKeyHash(in: target)
        let request = try SymmetricKeyRequest(JSONFields(parsing: body.readableBytesView))
        let material = try Self.material(request)
        if let known = responses.entry(for: hash), known.algorithm == .ecV1 {
            try requireUse(of: known, hash, material, peer)
            if let key = try operations.cachedSymmetricKey(hash, from: material) {
                known.uses?.record(at: operations.now)
                return .now(Self.response(symmetricKey: key))
            }
        }
        // One of the two caches does not contain the key, or it is an RSA key.
        return .blocking {
            // Reads the cache again, because the key may have changed while the request waited for a thread.
            let cached = responses.entry(for: hash)
            // `read` counts this request as a use of the key.
            let known = try cached ?? read(hash) { try peer.require(.symmetricKey, of: hash, for: $0) }
            try requireUse(of: known, hash, material, peer)
            let key = try operations.symmetricKey(hash, from: material)
            cached?.uses?.record(at: operations.now)
            return Self.response(symmetricKey: key)
        }
    }

    /// The header fields of a JSON response. `X-Request-Id` is the identifier in the audit record of the request.
    static func jsonFields(_ request: Request) -> [(name: String, value: String)] {
        [("Content-Type", "application/json"), ("X-Request-Id", request.requestId)]
    }

    /// Returns the publicKeyHash in the path. Throws an internal error if the route's path has no such parameter, which
    /// would be a mistake in the table of routes.
    private static func publicKeyHash(in target: RouteMatch) throws(MerchantError) -> PublicKeyHash {
        guard let hash = target.publicKeyHash else {
            throw MerchantError(.internalError, "the route \(target.route.path) has no publicKeyHash in its path")
        }
        return hash
    }

    /// Checks that the caller may use the key to restore a symmetric key, and that the key fits the request.
    private func requireUse(
        of known: KeyResponseCache.Entry, _ hash: PublicKeyHash, _ material: SymmetricKeyMaterial, _ peer: Peer
    ) throws {
        try peer.require(.symmetricKey, of: hash, for: known.merchantIdentifier)
        guard material.algorithm == known.algorithm else {
            throw MerchantError(
                .tokenKeyMismatch,
                "the request is for an \(material.algorithm.rawValue) token, "
                    + "but the key \(hash) is for \(known.algorithm.rawValue) tokens")
        }
    }

    private static func response(symmetricKey: borrowing SecretBytes) -> EncodedResponse {
        symmetricKey.withUnsafeBytes { key in
            EncodedResponse(.ok, bodyCapacity: 20 + ByteBuffer.base64Length(of: key.count), holdsSecret: true) { body in
                body.writeStaticString("{\"symmetricKey\":\"")
                body.writeBase64(key)
                body.writeStaticString("\"}")
            }
        }
    }

    private static func material(_ request: SymmetricKeyRequest) throws(MerchantError) -> SymmetricKeyMaterial {
        func bytes(_ text: String, _ name: String) throws(MerchantError) -> [UInt8] {
            guard let bytes = Base64.decode(text), bytes.count <= 512 else {
                throw MerchantError(
                    .malformed,
                    "'\(name)' is not Base64 of at most 512 bytes, expected the standard alphabet with padding")
            }
            return Array(bytes)
        }
        if let text = request.ephemeralPublicKey {
            return .ephemeralPublicKey(try bytes(text, "ephemeralPublicKey"))
        }
        // The request has exactly one of the two fields, so `wrappedKey` is not nil here.
        return .wrappedKey(try bytes(request.wrappedKey ?? "", "wrappedKey"))
    }

    /// Reads the key pair from the store, and caches the response unless the key pair changed during the read.
    ///
    /// - Parameters:
    ///   - countsAsUse: whether this request is recorded as a use of the key. During a roll, uses of the old key delay
    ///     the time at which the roll can be finished.
    ///   - authorize: throws if the caller has no permit for the key's merchant.
    func read(
        _ hash: PublicKeyHash, countsAsUse: Bool = true, authorizing authorize: (MerchantIdentifier) throws -> Void
    ) throws -> KeyResponseCache.Entry {
        let ticket = responses.ticket(for: hash)
        let key = try operations.resolveNow(hash, countsAsUse: countsAsUse, authorizing: authorize)
        let document = ResolvedKeyDocument(key)
        let entry = KeyResponseCache.Entry(
            merchantIdentifier: key.keyPair.merchantIdentifier, algorithm: key.keyPair.algorithm,
            response: EncodedResponse(.ok, bodyCapacity: Self.capacity(for: document)) { body in
                body.writeMembers(of: document)
                body.writeStaticString("}")
            }.compacted, period: key.certificatePeriod, uses: operations.useCounter(for: hash))
        responses.fill(entry, for: hash, ticket)
        return entry
    }

    /// At least the length in bytes of the document. A certificate has line feeds, which JSON escapes with two bytes.
    /// All other members together have at most 800 bytes, because a merchant identifier has at most 255.
    private static func capacity(for document: ResolvedKeyDocument) -> Int { 2 * document.certificate.utf8.count + 800 }

    private func export(_ hash: PublicKeyHash, _ peer: Peer, for request: Request) async throws -> EncodedResponse {
        let key = try await blockingPool.run {
            try operations.resolveNow(hash) { merchant in
                try peer.require(.resolve, of: hash, for: merchant)
                try peer.require(.exportPrivateKey, of: hash, for: merchant)
            }
        }
        let document = ResolvedKeyDocument(key)
        let privateKey = try await operations.exportPrivateKey(hash, for: request)
        return privateKey.withUnsafeBytes { pem in
            // In the worst case every byte is a line feed, which JSON escapes with two bytes.
            EncodedResponse(
                .ok, fields: Self.jsonFields(request),
                bodyCapacity: Self.capacity(for: document) + 20 + 2 * pem.count, holdsSecret: true
            ) { body in
                body.writeMembers(of: document)
                body.writeStaticString(",\"privateKey\":\"")
                body.writeEscapingLineEnds(pem)
                body.writeStaticString("\"}")
            }
        }
    }
}

extension ResolvedKeyDocument {
    /// Leaves `privateKey` nil, because only noncopyable values may hold a private key.
    fileprivate init(_ key: DecryptionKey) {
        self.init(
            key.keyPair.publicKeyHash, of: key.keyPair.merchantIdentifier, algorithm: key.keyPair.algorithm,
            state: key.keyPair.state, certificate: PEM.encode(key.certificate.der, label: "CERTIFICATE"),
            validFrom: key.certificate.notBefore, to: key.certificate.notAfter)
    }
}
