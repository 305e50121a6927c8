import Crypto
import FoundationEssentials
import MerchantCore
import MerchantOperations
import Synchronization
import Testing
import Vocabulary

/// Which tokens count as a use of the key that they name. Each use of an old key delays the end of its roll.
@Suite struct JunkTokenTests {
    let server = DecryptorTestServer()
    let key = P256.KeyAgreement.PrivateKey()

    /// Sends the token twice, and returns the status and the stored use of the key.
    func use(
        after token: MintedToken, state: KeyState = .retiring, expected: String = #"{"merchantIdentifier":"any"}"#,
        _ more: String = ""
    ) async throws -> (status: Int, use: KeyUse?) {
        let hash = server.addKey(state, key: key)
        let request = token.request(expected: expected, more)
        var statuses: [Int] = []
        try await server.serve { _ in
            // From the store, and from the cache.
            for _ in 0..<2 {
                statuses.append(try await server.ask("POST", "/v1/payment-tokens/decrypt", request).status)
            }
        }
        try await server.operations.keyUses.storeUses(as: Caller(uid: 1, gid: 1, pid: 1, program: "test"))
        #expect(Set(statuses).count == 1)
        return (statuses[0], server.store.use(of: hash))
    }

    var now: Timestamp { server.clock.now }

    @Test func `a token whose signature does not verify does not count as a use of the key that it names`()
        async throws
    {
        let junk = try await use(after: MintedToken(to: key.publicKey))
        #expect(junk.status == 422 && junk.use == nil)
    }

    @Test func `a genuine token that is too old does not count as a use of its key`() async throws {
        let old = try await use(after: MintedToken(to: key.publicKey, signedAt: now.adding(.seconds(-3600))))
        #expect(old.status == 422 && old.use == nil)
    }

    @Test func `a genuine token does not count for another key whose hash was written into it`() async throws {
        let other = P256.KeyAgreement.PrivateKey()
        server.addKey(key: other)
        var token = try MintedToken(to: other.publicKey, signedAt: now)
        token.paymentData = token.paymentData.replacing(
            PublicKeyHash(of: other.publicKey.derRepresentation).base64,
            with: PublicKeyHash(of: key.publicKey.derRepresentation).base64)
        let forged = try await use(after: token)
        #expect(forged.status == 422 && forged.use == nil)
    }

    @Test func `a verified token that decrypts counts as a request and as a decryption`() async throws {
        let genuine = try await use(after: MintedToken(to: key.publicKey, signedAt: now), #","claim":false"#)
        #expect(genuine.status == 200)
        #expect(genuine.use?.requests?.count == 2 && genuine.use?.decryptions?.count == 2)
    }

    @Test func `without verification, a token that decrypts counts only as a request`() async throws {
        let unverified = try await use(after: MintedToken(to: key.publicKey), #","verify":false"#)
        #expect(unverified.status == 200)
        #expect(unverified.use?.requests?.count == 2 && unverified.use?.decryptions == nil)
    }

    @Test(arguments: [KeyState.revoked, .destroyed])
    func `a verified token for a revoked key counts, and an unverified token does not`(state: KeyState) async throws {
        let junk = try await use(after: MintedToken(to: key.publicKey), state: state)
        #expect(junk.status == 410 && junk.use == nil)
        let genuine = try await use(after: MintedToken(to: key.publicKey, signedAt: now), state: state)
        #expect(genuine.status == 410 && genuine.use?.requests?.count == 2)
    }

    @Test func `requests for a key or a symmetric key count, because the daemon sees no token`() async throws {
        let hash = server.addKey(.retiring, key: key)
        let ephemeral = P256.KeyAgreement.PrivateKey().publicKey.derRepresentation.base64EncodedString()
        try await server.serve { _ in
            for _ in 0..<2 {
                _ = try await server.ask("GET", "/v1/keys/\(hash.base64URL)")
                _ = try await server.ask(
                    "POST", "/v1/keys/\(hash.base64URL)/symmetric-key", #"{"ephemeralPublicKey":"\#(ephemeral)"}"#)
            }
        }
        try await server.operations.keyUses.storeUses(as: Caller(uid: 1, gid: 1, pid: 1, program: "test"))
        #expect(server.store.use(of: hash)?.requests?.count == 4)
    }
}
