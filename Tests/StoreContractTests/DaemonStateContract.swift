import MerchantCore
import Testing
import Vocabulary

/// The contract of ``DaemonStateReading`` and ``DaemonStateWriting``.
@Suite struct DaemonStateContract {
    @Test(arguments: StoreUnderTest.allCases)
    func `a daemon value is the value that was set last`(store: StoreUnderTest) async throws {
        let store = try store.open()
        #expect(try await store.read { try $0.daemonValue("name") } == nil)
        try await store.write { try $0.setDaemonValue("name", "one") }
        try await store.write { try $0.setDaemonValue("name", "two") }
        #expect(try await store.read { try $0.daemonValue("name") } == "two")
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `a verified backup covers the key pairs up to its newest`(store: StoreUnderTest) async throws {
        let store = try store.open()
        try await store.storeMerchant(0, .pending)
        try await store.storeMerchant(1, .pending)
        try await store.storeMerchant(2)
        let backup = Sample.backup(1, newestKeyPairId: 1)
        try await store.write { try $0.record(backup, at: "/a", verifiedAt: nil) }
        var coverage = try await store.read { try $0.backupCoverage(at: Sample.time(1000)) }
        #expect(coverage.newestVerifiedCreatedAt == nil && coverage.merchantsAwaitingBackup == 2)
        try await store.write { try $0.record(backup, at: "/b", verifiedAt: Sample.time(5)) }
        coverage = try await store.read { try $0.backupCoverage(at: Sample.time(1000)) }
        #expect(coverage.newestVerifiedCreatedAt == backup.createdAt && coverage.newestVerifiedPath == "/b")
        #expect(coverage.firstMerchantsAwaitingBackup == [Sample.identifier(1)])
        let covered = try await store.read { reading in
            let summaries = try reading.keyPairSummaries(of: (0..<4).map(Sample.identifier))
            return (0..<4).map { summaries[Sample.identifier($0)].map { [$0.isNewestBackedUp] } }
        }
        #expect(covered == [[true], [false], [nil], nil])
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `the store knows since when a key pair with a certificate is in no verified backup`(store: StoreUnderTest)
        async throws
    {
        let store = try store.open()
        func since() async throws -> Timestamp? {
            try await store.read { try $0.backupCoverage(at: Sample.time(1000)).notBackedUpSince }
        }
        try await store.storeMerchant(0, .pending)
        #expect(try await since() == nil)
        try await store.storeMerchant(1, .standby, .current)
        #expect(try await since() == Sample.time(0))
        // Key pairs have the ids 1 (pending), 2 and 3.
        try await store.write { try $0.record(Sample.backup(1, newestKeyPairId: 2), at: "/a", verifiedAt: nil) }
        #expect(try await since() == Sample.time(0))
        try await store.write {
            try $0.record(Sample.backup(2, newestKeyPairId: 3), at: "/b", verifiedAt: Sample.time(5))
        }
        #expect(try await since() == nil)
        try await store.write { transaction in
            _ = try transaction.insert(Sample.certificate(0), of: Sample.hash(0))
        }
        // The backup must contain the key pair. It may lack the certificate.
        #expect(try await since() == nil)
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `a verified backup with a time in the future covers its key pairs, but its age is unknown`(
        store: StoreUnderTest
    ) async throws {
        let store = try store.open()
        try await store.storeMerchant(0, .pending)
        func coverage(at seconds: Int) async throws -> BackupCoverage {
            try await store.read { try $0.backupCoverage(at: Sample.time(seconds)) }
        }
        try await store.write {
            try $0.record(Sample.backup(50, newestKeyPairId: 1), at: "/ahead", verifiedAt: Sample.time(50))
        }
        let ahead = try await coverage(at: 20)
        #expect(ahead.newestVerifiedCreatedAt == nil && ahead.newestVerifiedPath == nil)
        #expect(ahead.verifiedInFuture == Sample.time(50) && ahead.hasVerifiedBackup)
        #expect(ahead.merchantsAwaitingBackup == 0)
        #expect(try await coverage(at: 50).newestVerifiedCreatedAt == Sample.time(50))
        // A backup that was created after the clock was set right has the same key pairs.
        try await store.write {
            try $0.record(Sample.backup(10, newestKeyPairId: 1), at: "/right", verifiedAt: Sample.time(10))
        }
        let right = try await coverage(at: 20)
        #expect(right.newestVerifiedCreatedAt == Sample.time(10) && right.newestVerifiedPath == "/right")
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `a backup is verified only while its last verification found no fault`(store: StoreUnderTest) async throws {
        let store = try store.open()
        let backup = Sample.backup(1, newestKeyPairId: 0)
        try await store.write { try $0.record(backup, at: "/a", verifiedAt: Sample.time(5)) }
        #expect(
            try await store.read { try $0.backupCoverage(at: Sample.time(1000)).newestVerifiedCreatedAt }
                == backup.createdAt)
        try await store.write { try $0.record(backup, at: "/a.not-good", verifiedAt: nil) }
        #expect(try await store.read { try $0.backupCoverage(at: Sample.time(1000)).newestVerifiedCreatedAt } == nil)
    }
}
