import MerchantCore
import MerchantOperations
import MerchantTestSupport
import Testing
import Vocabulary

/// What the store records about the verification of a backup.
@Suite struct BackupVerificationTests {
    @Test func `a backup whose last verification found a fault does not count as verified`() async throws {
        let bench = try await Bench()
        let service = MemoryBackups(clock: bench.clock)
        let backups = Operations(
            repository: bench.repository, custodian: FakeCustodian(clock: bench.clock), clock: bench.clock,
            backupService: service
        ).backups
        func newestVerifiedCreatedAt() async throws -> Timestamp? {
            try await backups.backupCoverage(at: bench.clock.now).newestVerifiedCreatedAt
        }
        let created = try await backups.createBackup(at: "/b", for: bench.request)
        _ = try await backups.verifyBackup("/b", for: bench.request)
        #expect(try await newestVerifiedCreatedAt() == created.createdAt)
        service.damage("/b")
        let result = try await backups.verifyBackup("/b", for: bench.request)
        #expect(result.findings.count == 1)
        #expect(try await newestVerifiedCreatedAt() == nil)
    }
}
