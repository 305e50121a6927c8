import Crypto
import DecryptorServer
import FoundationEssentials
import MerchantCore
import Synchronization
import Testing
import Vocabulary

/// A store that cannot be reached, with the setting `store.postgresql.serve-stale`.
@Suite struct StaleKeysTests {
    private let lease = Lease()
    private let server: DecryptorTestServer
    private let key = P256.KeyAgreement.PrivateKey()
    private let hash: PublicKeyHash

    init() {
        server = DecryptorTestServer(lease: lease)
        hash = server.addKey(key: key)
        lease.setEnd(.now + .seconds(86_400))
    }

    private func resolve(_ hash: PublicKeyHash) async throws -> Int {
        try await server.ask("GET", "/v1/keys/\(hash.base64URL)").status
    }

    private func symmetricKey(_ hash: PublicKeyHash) async throws -> Int {
        let point = P256.KeyAgreement.PrivateKey().publicKey.derRepresentation.base64EncodedString()
        return try await server.ask(
            "POST", "/v1/keys/\(hash.base64URL)/symmetric-key", #"{"ephemeralPublicKey":"\#(point)"}"#
        ).status
    }

    private func decrypt() async throws -> Int {
        let token = try MintedToken(to: key.publicKey, signedAt: server.clock.now)
        let request = token.request(
            expected: #"{"merchantIdentifier":"\#(DecryptorTestServer.merchant)"}"#, #","claim":false"#)
        return try await server.ask("POST", "/v1/payment-tokens/decrypt", request).status
    }

    private func failReads() {
        server.store.readFailure.withLock { $0 = MerchantError(.storeUnavailable, "the server does not respond") }
    }

    @Test func `known keys are used as long as the lease of the caches is valid, and no longer`() async throws {
        let unknown = server.addKey(.standby)
        try await server.serve { _ in
            for seconds in [0, 59, 1, 86_300] {
                server.clock.advance(by: .seconds(seconds))
                let statuses = try await [resolve(hash), symmetricKey(hash), decrypt()]
                #expect(statuses == [200, 200, 200])
                failReads()
            }
            #expect(try await [resolve(unknown), symmetricKey(unknown)] == [503, 503])
            lease.setEnd(.now)
            #expect(try await [resolve(hash), symmetricKey(hash), decrypt()] == [503, 503, 503])
        }
    }

    @Test func `a key that was changed is not used again before it is read`() async throws {
        try await server.serve { _ in
            #expect(try await resolve(hash) == 200)
            failReads()
            try await server.store.move(hash, to: .revoked)
            #expect(try await [resolve(hash), symmetricKey(hash), decrypt()] == [503, 503, 503])
            server.store.readFailure.withLock { $0 = nil }
            #expect(try await resolve(hash) == 410)
        }
    }
}
