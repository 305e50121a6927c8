import MerchantCore
import MerchantOperations
import MerchantTestSupport
import PaymentToken
import SandboxKit
import Testing
import Vocabulary

/// What webhooks receive about an event with encrypted metadata, and which uses of keys are stored.
@Suite("Encrypted metadata of merchant token events") struct TokenMetadataDecryptionTests {
    private let custodian = P256Custodian()
    private let bench: TokenBench

    init() async throws {
        bench = try await TokenBench(
            custodian: custodian,
            tokenRoots: TrustRoot.reading(pem: MintedMetadata.apple.get().rootCertificate))
    }

    /// Metadata that is encrypted to a key of the custodian.
    private func metadata(
        to hash: PublicKeyHash, of merchant: MerchantIdentifier = Bench.integrator, hasValidSignature: Bool = true
    ) throws -> MintedMetadata {
        try MintedMetadata(
            to: #require(custodian.publicKey(hash)), of: merchant, signedAt: bench.clock.now,
            hasValidSignature: hasValidSignature)
    }

    /// Fetches an event of the platform integrator with this metadata, and returns the event for webhooks.
    ///
    /// - Parameter delay: the time from the notification until the event is fetched.
    private func fetch(_ metadata: MintedMetadata, after delay: Duration = .zero) async throws -> Event {
        bench.gateway.add(
            eventName("e-1"), "UPDATED_METADATA", of: tokenName("t-1"), encryptedMetadata: metadata.json)
        try await bench.notify("e-1")
        bench.clock.advance(by: delay)
        #expect(try await bench.fetchDue() == [.stored])
        let events = try await bench.events()
        #expect(events.map(\.kind) == [.merchantTokenMetadataUpdated])
        return try #require(events.first)
    }

    /// Stores the observed uses of all keys, and returns the stored uses of one key.
    private func use(of hash: PublicKeyHash) async throws -> KeyUse? {
        try await bench.operations.keyUses.storeUses(as: Bench.caller)
        return try await bench.repository.read { try $0.keyUse(of: hash) }
    }

    private func state(of hash: PublicKeyHash) async throws -> KeyState? {
        try await bench.repository.read { try $0.keyPair(hash)?.state }
    }

    private func revoke(_ hash: PublicKeyHash) async throws {
        _ = try await bench.operations.transitions.revoke(
            hash, reason: RevocationRules.compromised, dryRun: false, for: bench.request)
        bench.clock.advance(by: .seconds(1))
    }

    /// The keys for which the daemon has reported that they were requested although they are revoked.
    private func reportedRevokedKeys() async throws -> [PublicKeyHash?] {
        try await bench.repository.read {
            try $0.events(after: nil, merchant: nil, limit: 1_000).map(\.event)
                .filter { $0.kind == .revokedKeyRequested }.map(\.publicKeyHash)
        }
    }

    private func expectNoContent(_ event: Event, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        #expect(event.severity == .warning, sourceLocation: sourceLocation)
        #expect(event.merchantToken?.mpanIdentifier == nil, sourceLocation: sourceLocation)
        #expect(event.merchantToken?.card == nil, sourceLocation: sourceLocation)
        #expect(try await bench.token("t-1")?.card == nil, sourceLocation: sourceLocation)
    }

    @Test("a decryption is reported with its key, and counts as a use, which promotes a merchant's first key")
    func decrypted() async throws {
        let (key, other) = (
            try await bench.addKeyPair(of: Bench.shop), try await bench.addKeyPair(of: Bench.integrator)
        )
        let event = try await fetch(try metadata(to: other))
        #expect(event.severity == .notice && event.publicKeyHash == other)
        #expect(event.merchantToken?.mpanIdentifier == "mpan-2")
        #expect(event.merchantToken?.card?.expirationDate == "310131")
        #expect(try await bench.token("t-1")?.card?.expirationDate == "310131")
        #expect(!event.detail.contains(MintedMetadata.mpan))
        let use = try #require(try await use(of: other))
        #expect(use.requests?.count == 1 && use.decryptions?.count == 1)
        #expect(try await state(of: other) == .current)
        #expect(try await self.use(of: key) == nil)
    }

    @Test("metadata that was signed when the notification arrived is decrypted, although it is fetched a day later")
    func late() async throws {
        let key = try await bench.addKeyPair(of: Bench.integrator)
        let event = try await fetch(try metadata(to: key), after: .seconds(86_400))
        #expect(event.severity == .notice && event.merchantToken?.mpanIdentifier == "mpan-2")
    }

    @Test("metadata to an active key of another merchant, as encryptTo permits, is decrypted with this key")
    func otherMerchant() async throws {
        let (own, shops) = (
            try await bench.addKeyPair(of: Bench.integrator), try await bench.addKeyPair(of: Bench.shop)
        )
        let event = try await fetch(try metadata(to: shops, of: Bench.shop))
        #expect(event.severity == .notice && event.merchantIdentifier == Bench.integrator)
        #expect(event.publicKeyHash == shops && event.merchantToken?.mpanIdentifier == "mpan-2")
        #expect(try await use(of: shops)?.decryptions?.count == 1)
        #expect(try await use(of: own) == nil)
    }

    @Test("metadata that is encrypted to one key and names another merchant's key is a use of neither key")
    func exchangedHash() async throws {
        let (own, shops) = (
            try await bench.addKeyPair(of: Bench.integrator), try await bench.addKeyPair(of: Bench.shop)
        )
        var metadata = try metadata(to: own)
        metadata.publicKeyHash = shops
        let event = try await fetch(metadata)
        try await expectNoContent(event)
        #expect(event.publicKeyHash == shops && custodian.usedKeys == [shops])
        for key in [own, shops] { #expect(try await use(of: key) == nil) }
    }

    @Test("signed metadata to a revoked key is not decrypted, and the request for this key is counted and reported")
    func revoked() async throws {
        let key = try await bench.addKeyPair(of: Bench.integrator)
        try await revoke(key)
        let event = try await fetch(try metadata(to: key))
        try await expectNoContent(event)
        #expect(event.publicKeyHash == key && custodian.usedKeys == [])
        let use = try #require(try await use(of: key))
        #expect(use.requests?.count == 1 && use.decryptions == nil)
        #expect(try await reportedRevokedKeys() == [key])
    }

    /// Keys that cannot decrypt metadata.
    enum UnusableKey: CaseIterable { case unknown, pending, identity }

    @Test(
        "metadata to an unknown key, a key without a certificate or an identity key is not decrypted",
        arguments: UnusableKey.allCases)
    func unusable(_ kind: UnusableKey) async throws {
        let key: PublicKeyHash
        switch kind {
        case .unknown:
            key = try custodian.generateKeyPair(
                algorithm: .ecV1, purpose: .paymentProcessing, for: Bench.integrator
            ).publicKeyHash
        case .pending:
            key = try await bench.operations.keys.generateKeyPair(
                for: Bench.integrator, algorithm: .ecV1, purpose: .paymentProcessing, for: bench.request
            ).keyPair.publicKeyHash
        case .identity: key = try await bench.addKeyPair(of: Bench.integrator, purpose: .identity)
        }
        let event = try await fetch(try metadata(to: key))
        try await expectNoContent(event)
        #expect(event.publicKeyHash == key && custodian.usedKeys == [])
        #expect(try await use(of: key) == nil)
    }

    @Test("metadata with a broken signature is not decrypted and does not count as a use", arguments: [false, true])
    func brokenSignature(isRevoked: Bool) async throws {
        let key = try await bench.addKeyPair(of: Bench.integrator)
        if isRevoked { try await revoke(key) }
        let event = try await fetch(try metadata(to: key, hasValidSignature: false))
        try await expectNoContent(event)
        #expect(event.publicKeyHash == key && custodian.usedKeys == [])
        #expect(try await use(of: key) == nil)
        #expect(try await reportedRevokedKeys() == [])
    }
}
