import MerchantCore
import MerchantOperations
import MerchantTestSupport
import PaymentToken
import SandboxKit
import Secrets
import Testing
import Vocabulary

/// The account numbers of merchant tokens: stored sealed or not at all, and erased when they are no longer needed.
@Suite struct MPANTests {
    private let custodian = P256Custodian()

    private func bench(storesMPANs: Bool) async throws -> TokenBench {
        try await TokenBench(
            policy: Self.policy(storesMPANs: storesMPANs), custodian: custodian,
            tokenRoots: TrustRoot.reading(pem: MintedMetadata.apple.get().rootCertificate))
    }

    private static func policy(storesMPANs: Bool) -> MerchantTokenPolicy {
        var policy = MerchantTokenPolicy()
        policy.storesMPANs = storesMPANs
        return policy
    }

    /// Fetches an event of the token `t-1`.
    ///
    /// - Parameter hash: the key to which metadata is encrypted; nil for an event without metadata.
    private func fetch(
        _ event: String, _ type: String = "UPDATED_METADATA", to hash: PublicKeyHash?, in bench: TokenBench
    ) async throws {
        let metadata = try hash.map {
            try MintedMetadata(
                to: #require(custodian.publicKey($0)), of: Bench.integrator, signedAt: bench.clock.now
            ).json
        }
        bench.gateway.add(eventName(event), type, of: tokenName("t-1"), encryptedMetadata: metadata)
        try await bench.notify(event)
        #expect(try await bench.fetchDue() == [.stored])
    }

    private func stored(in bench: TokenBench) async throws -> StoredMPAN? {
        try await bench.repository.read { try $0.mpan(of: tokenName("t-1")) }
    }

    private func read(_ bench: TokenBench, authorizing: Bool = true) async throws -> String {
        let mpan = try await bench.operations.mpans.mpan(of: tokenName("t-1"), for: bench.request) { _ in
            guard authorizing else { throw MerchantError(.forbidden, "no permit") }
        }
        return mpan.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }

    private func refusal(_ bench: TokenBench, authorizing: Bool = true) async throws -> MerchantError.Code? {
        do {
            _ = try await read(bench, authorizing: authorizing)
            return nil
        } catch let error as MerchantError { return error.code }
    }

    private func reads(_ bench: TokenBench) async throws -> [AuditEntry] {
        try await bench.repository.read { try $0.auditRecords(merchant: nil, key: nil, before: nil, limit: 10_000) }
            .map(\.entry).filter { $0.action == .mpanRead }
    }

    @Test func `the account number of an event is stored sealed and can be read, and each read is recorded`()
        async throws
    {
        let bench = try await bench(storesMPANs: true)
        let hash = try await bench.addKeyPair(of: Bench.integrator)
        #expect(try await refusal(bench) == .merchantTokenNotFound)
        try await fetch("e-1", to: hash, in: bench)
        let stored = try #require(try await stored(in: bench))
        #expect(stored.sealed.bytes.firstRange(of: Array(MintedMetadata.mpan.utf8)) == nil)
        #expect(try await read(bench) == MintedMetadata.mpan)
        let reads = try await reads(bench)
        #expect(reads.map(\.merchantIdentifier) == [Bench.integrator])
        #expect(reads.map(\.reason) == ["merchantTokenIdentifier=t-1"])
        #expect(reads.map(\.requestId) == [bench.request.requestId])
    }

    @Test func `an event without an account number keeps the stored one, and an unlink erases it`() async throws {
        let bench = try await bench(storesMPANs: true)
        let hash = try await bench.addKeyPair(of: Bench.integrator)
        try await fetch("e-1", to: hash, in: bench)
        try await fetch("e-2", "UPDATED_CARD_ART", to: nil, in: bench)
        #expect(try await read(bench) == MintedMetadata.mpan)
        try await fetch("e-3", "UNLINK", to: nil, in: bench)
        #expect(try await stored(in: bench) == nil)
        #expect(try await refusal(bench) == .mpanNotStored)
        // An event that is fetched after the unlink stores no account number.
        try await fetch("e-4", to: hash, in: bench)
        #expect(try await stored(in: bench) == nil)
    }

    @Test func `an unlink by the platform erases the account number`() async throws {
        let bench = try await bench(storesMPANs: true)
        try await fetch("e-1", to: bench.addKeyPair(of: Bench.integrator), in: bench)
        _ = try await bench.operations.merchantTokens.unlink(tokenName("t-1"), for: bench.request)
        #expect(try await stored(in: bench) == nil)
    }

    @Test func `an event never replaces the account number of a later notification`() async throws {
        let bench = try await bench(storesMPANs: true)
        let hash = try await bench.addKeyPair(of: Bench.integrator)
        try await fetch("e-1", to: hash, in: bench)
        let first = try #require(try await stored(in: bench))
        let later = StoredMPAN(sealed: first.sealed, receivedAt: bench.clock.now.adding(.seconds(60)))
        try await bench.repository.write { try $0.store(later) }
        try await fetch("e-2", to: hash, in: bench)
        #expect(try await stored(in: bench) == later)
        bench.clock.advance(by: .seconds(120))
        try await fetch("e-3", to: hash, in: bench)
        #expect(try await stored(in: bench)?.receivedAt == bench.clock.now)
    }

    @Test func `without the setting no account number is stored`() async throws {
        let bench = try await bench(storesMPANs: false)
        try await fetch("e-1", to: bench.addKeyPair(of: Bench.integrator), in: bench)
        #expect(try await stored(in: bench) == nil)
        #expect(try await refusal(bench) == .mpanNotStored)
    }

    @Test func `once the setting is false, a stored account number cannot be read, and the next event erases it`()
        async throws
    {
        let before = try await bench(storesMPANs: true)
        try await fetch("e-1", to: before.addKeyPair(of: Bench.integrator), in: before)
        let after = TokenBench(
            before.repository, gateway: before.gateway, policy: Self.policy(storesMPANs: false), clock: before.clock,
            custodian: custodian)
        #expect(try await stored(in: after) != nil)
        #expect(try await refusal(after) == .mpanNotStored)
        try await fetch("e-2", "UPDATED_CARD_ART", to: nil, in: after)
        #expect(try await stored(in: after) == nil)
    }

    @Test func `a caller without the permit gets no account number, and no read is recorded`() async throws {
        let bench = try await bench(storesMPANs: true)
        try await fetch("e-1", to: bench.addKeyPair(of: Bench.integrator), in: bench)
        #expect(try await refusal(bench, authorizing: false) == .forbidden)
        #expect(try await reads(bench).isEmpty)
    }
}
