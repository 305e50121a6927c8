import MerchantCore
import MerchantOperations
import MerchantTestSupport
import Testing
import Vocabulary

/// What only a production daemon reports by default: keys without a backup, and issuers that were not verified.
@Suite struct ProductionFindingsTests {
    private static let merchant = RealStore.merchant(1)

    private static var backups: BackupPolicy {
        var policy = BackupPolicy()
        (policy.warningAfter, policy.criticalAfter) = (.zero, .seconds(7 * 86_400))
        return policy
    }

    private func finding(_ code: StatusFinding.Code, _ real: RealStore) async throws -> StatusFinding? {
        try await real.operations.monitoring.status().findings.first { $0.code == code }
    }

    @Test func `a first key with a certificate and no backup is a warning, and critical after seven days`()
        async throws
    {
        let real = try RealStore(environment: .production, backups: Self.backups)
        #expect(try await finding(.backupMissing, real) == nil)
        _ = try await real.onboard(Self.merchant)
        #expect(try await finding(.backupMissing, real)?.severity == .warning)
        real.clock.advance(by: .seconds(7 * 86_400))
        #expect(try await finding(.backupMissing, real)?.severity == .critical)
    }

    @Test func `a certificate whose issuer was not verified is a warning in production`() async throws {
        let real = try RealStore(environment: .production)
        let hash = try await real.onboard(Self.merchant)
        let found = try #require(try await finding(.issuerNotVerified, real))
        #expect(found.counts == [.warning: 1] && found.mostUrgent.map(\.publicKeyHash) == [hash])
    }

    @Test func `a sandbox reports neither a missing backup nor an unverified issuer`() async throws {
        let real = try RealStore()
        _ = try await real.onboard(Self.merchant)
        #expect(try await finding(.issuerNotVerified, real) == nil)
        #expect(try await finding(.backupMissing, real) == nil)
    }

    @Test(arguments: [Environment.production, .sandbox])
    func `only in production, the view of an upload warns of an issuer that was not verified`(environment: Environment)
        async throws
    {
        let real = try RealStore(environment: environment)
        let request = RealStore.request
        _ = try await real.operations.merchants.addMerchant(
            Self.merchant, name: nil, targetActiveKeyPairs: nil, for: request)
        let hash = try await real.operations.keys.generateKeyPair(
            for: Self.merchant, algorithm: nil, purpose: .paymentProcessing, for: request
        ).keyPair.publicKeyHash
        let now = real.clock.now
        let certificate = NamedKeysCustodian.certificate(
            hash, of: Self.merchant, from: now, to: now.adding(.seconds(86_400)))
        for _ in 0..<2 {
            let view = try await real.operations.certificates.storeCertificate(
                certificate, for: Self.merchant, for: request)
            #expect(view.warnings.count == (environment == .production ? 1 : 0))
        }
        #expect(try await real.operations.keys.keyPair(hash).warnings == [])
    }
}
