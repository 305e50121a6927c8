import MerchantCore
import MerchantOperations
import MerchantTestSupport
import Testing
import Vocabulary

/// Which key pairs can replace a revoked one.
@Suite struct LastKeyTests {
    static let day = Duration.seconds(86_400)
    let merchant = RealStore.merchant(1)
    let real: RealStore

    init() throws { real = try RealStore() }

    func key(_ algorithm: KeyAlgorithm, _ purpose: KeyPurpose = .paymentProcessing, days: Int = 700) async throws
        -> PublicKeyHash
    {
        let hash = try await real.operations.keys.generateKeyPair(
            for: merchant, algorithm: algorithm, purpose: purpose, for: RealStore.request
        ).keyPair.publicKeyHash
        try await certify(hash, purpose, days: days)
        return hash
    }

    func certify(_ hash: PublicKeyHash, _ purpose: KeyPurpose = .paymentProcessing, days: Int) async throws {
        let now = real.clock.now
        _ = try await real.operations.certificates.storeCertificate(
            NamedKeysCustodian.certificate(
                hash, of: merchant, from: now, to: now.adding(Self.day * days), purpose: purpose),
            for: merchant, for: RealStore.request)
    }

    func revoke(_ hash: PublicKeyHash, _ reason: String = "test") async -> MerchantError.Code? {
        await refusal {
            _ = try await real.operations.transitions.revoke(
                hash, reason: reason, dryRun: false, for: RealStore.request)
        }
    }

    @Test func `a key of the other algorithm or for another purpose does not replace the last one`() async throws {
        let elliptic = try await real.onboard(merchant)
        let rsa = try await key(.rsaV1)
        let identity = try await key(.rsaV1, .identity)
        for hash in [elliptic, rsa, identity] { #expect(await revoke(hash) == .lastActiveKey) }
        let second = try await key(.ecV1)
        #expect(await revoke(elliptic) == nil)
        #expect(await revoke(second) == .lastActiveKey)
        #expect(await revoke(second, RevocationRules.compromised) == nil)
    }

    @Test func `revoking an identity key does not warn about payments, and revoking the last one needs a compromise`()
        async throws
    {
        _ = try await real.onboard(merchant)
        let first = try await key(.rsaV1, .identity)
        let second = try await key(.rsaV1, .identity)
        func warnings(_ reason: String, dryRun: Bool) async throws -> [String] {
            try await real.operations.transitions.revoke(first, reason: reason, dryRun: dryRun, for: RealStore.request)
                .warnings
        }
        #expect(try await warnings("test", dryRun: true) == [])
        let compromised = try await warnings(RevocationRules.compromised, dryRun: false)
        #expect(!compromised.isEmpty && compromised.allSatisfy { !$0.contains("410") && !$0.contains("promote") })
        #expect(await revoke(second) == .lastActiveKey)
    }

    @Test func `a key whose certificate has expired does not replace the last one until it has a new certificate`()
        async throws
    {
        let current = try await real.onboard(merchant)
        let other = try await key(.ecV1, days: 10)
        real.clock.advance(by: Self.day * 11)
        #expect(try real.state(other) == .standby)
        #expect(await revoke(current) == .lastActiveKey)
        let third = try await key(.ecV1, days: 5)
        real.clock.advance(by: Self.day * 6)
        #expect(await revoke(third) == nil, "no payment depends on this key")
        try await certify(other, days: 700)
        #expect(await revoke(current) == nil)
    }
}
