import Foundation
import MerchantCore
import MerchantTestSupport
import PostgresStore
import SQLiteStore
import StoreCore
import Testing
import Vocabulary

/// Copies of whole stores between SQLite and PostgreSQL.
@Suite struct StoreCopyTests {
    /// An empty PostgreSQL database, which is dropped with the value.
    private final class Target: Sendable {
        let database: PostgresUnderTest

        init() throws { database = try PostgresUnderTest.empty() }

        deinit { database.remove() }

        func copy(_ mark: UnfinishedCopyMark) throws -> PostgresCopy {
            try PostgresCopy(database.settings(), mark: mark, clock: SystemClock(), durability: .notRequired)
        }

        func tables() throws -> PostgresTables {
            try PostgresTables(database.settings(), durability: .notRequired)
        }
    }

    private static let value = (name: "copiedFrom", value: "here")

    /// Copies all tables, a few rows at a time.
    private static func copy(_ source: any TableReading, _ target: any TableWriting) throws {
        let copier = TableCopier(from: source, to: target, rowsPerRead: 2, rowsPerTransaction: 3)
        for table in try CopyPlan(from: source.tables(), to: target.tables()).tables { _ = try copier.copy(table) }
        try target.setAssignedNumbers(source.assignedNumbers())
    }

    /// The digest of each table, by its name.
    private static func digests(_ database: any TableReading) throws -> [String: TableDigest] {
        let tables = try database.tables()
        var digests: [String: TableDigest] = [:]
        for table in try CopyPlan(from: tables, to: tables).tables {
            digests[table.name] = try TableDigest(of: table, in: database)
        }
        return digests
    }

    @Test func `a copy to PostgreSQL and back has equal tables, and both copies can be used`() async throws {
        let store = try await CopiedStore()
        let source = try store.tables()
        let expected = try Self.digests(source)
        #expect(expected.filter { $0.value.rows == 0 }.keys.sorted() == [])

        let target = try Target()
        let copy = try target.copy(store.mark())
        try Self.copy(source, copy)
        #expect(try Self.digests(copy) == expected)
        try copy.prepareForUse()
        try copy.finish(storing: Self.value)
        for (table, number) in try source.assignedNumbers() {
            #expect(try copy.assignedNumbers()[table] ?? 0 >= number, "\(table)")
        }
        let postgres = PostgresStore(try target.database.open(), clock: SystemClock())
        try await Self.expectUsable(postgres)
        postgres.close()

        let changed = try target.tables()
        let changedDigests = try Self.digests(changed)
        #expect(changedDigests != expected)
        let back = try SQLiteCopy(
            database: store.scratch.path("back"), claims: store.scratch.path("back-claims"), mark: store.mark(),
            clock: SystemClock())
        try Self.copy(changed, back)
        #expect(try Self.digests(back) == changedDigests)
        try back.finish()
        try ClaimStore.inspect(path: store.scratch.path("back-claims" + SQLiteCopy.suffix), wholeContent: true)
        let sqlite = try SQLiteStore.open(path: store.scratch.path("back" + SQLiteCopy.suffix))
        #expect(try await sqlite.quickCheck() == [])
        try await Self.expectUsable(sqlite, merchant: 6)
        try sqlite.close()
        #expect(try Self.digests(store.tables()) == expected, "the source is unchanged")
    }

    /// Stores rows, and checks that their numbers continue those of the copy and that the triggers work.
    private static func expectUsable(_ repository: any MerchantRepository, merchant: Int = 5) async throws {
        let store = OpenStore(repository) {}
        let before = try await store.read { try $0.counts(at: Sample.time(0)) }
        let newest = try #require(try await store.read { try $0.auditHead() })
        try await store.storeMerchant(merchant, .current, .standby)
        try await store.write { transaction in
            try transaction.append(Sample.entry(.merchantAdded, merchant: merchant))
            try transaction.append(Sample.event(merchant: merchant))
        }
        let after = try await store.read { try $0.counts(at: Sample.time(0)) }
        #expect(after.merchants == before.merchants + 1)
        #expect(after.auditHead?.sequence == newest.sequence + 1)
        let segment = try await store.read { try $0.auditSegment(from: 1, limit: 1000) }
        var examination = AuditExamination()
        for link in segment.links { examination.examine(link) }
        examination.finish(highestAssigned: segment.highestAssigned)
        #expect(examination.breaks.isEmpty)
        // The triggers of the schema work again.
        let refused = try await store.refusal { transaction in
            try transaction.update(Sample.keyPair(1, .current))
            try transaction.update(Sample.keyPair(0, .current))
        }
        #expect(refused == .currentKeyExists)
    }

    @Test(arguments: [3, 20, 60])
    func `an interrupted copy to PostgreSQL continues, and no daemon uses it before it is finished`(
        reads: Int
    ) async throws {
        let store = try await CopiedStore()
        let (target, mark) = (try Target(), try store.mark())
        #expect(throws: InterruptedTables.Interruption.self) {
            try Self.copy(InterruptedTables(try store.tables(), after: reads), try target.copy(mark))
        }
        let refusal = #expect(throws: MerchantError.self) { try target.database.open() }
        #expect(refusal?.code == .storeUnavailable)
        let source = #expect(throws: MerchantError.self) { try target.tables() }
        #expect(source?.code == .storeUnavailable)

        let resumed = try target.copy(mark)
        #expect(resumed.isResumed)
        try Self.copy(try store.tables(), resumed)
        #expect(try Self.digests(resumed) == Self.digests(store.tables()))
        try resumed.finish(storing: Self.value)
        _ = try target.database.open()
    }

    @Test(arguments: [3, 20, 60])
    func `an interrupted copy to SQLite continues`(reads: Int) async throws {
        let store = try await CopiedStore()
        let mark = try store.mark()
        func copy() throws -> SQLiteCopy {
            try SQLiteCopy(
                database: store.scratch.path("copy"), claims: store.scratch.path("copy-claims"), mark: mark,
                clock: SystemClock())
        }
        #expect(throws: InterruptedTables.Interruption.self) {
            try Self.copy(InterruptedTables(try store.tables(), after: reads), try copy())
        }
        let resumed = try copy()
        #expect(resumed.isResumed)
        try Self.copy(try store.tables(), resumed)
        #expect(try Self.digests(resumed) == Self.digests(store.tables()))
        try resumed.finish()
    }

    @Test func `a copy of other data begins again, and so does a copy that was discarded`() async throws {
        let store = try await CopiedStore()
        let (target, mark) = (try Target(), try store.mark())
        try Self.copy(try store.tables(), try target.copy(mark))
        let other = UnfinishedCopyMark(
            sourceHead: AuditHead(sequence: mark.sourceHead.sequence + 1, hash: mark.sourceHead.hash))
        let again = try target.copy(other)
        #expect(!again.isResumed)
        #expect(try Self.digests(again).allSatisfy { $0.value.rows == 0 })
        #expect(try target.copy(other).isResumed)
        try again.discard()
        #expect(try !target.copy(other).isResumed)
    }

    @Test func `a changed, a missing and a further row make a digest differ`() async throws {
        let store = try await CopiedStore()
        let target = try Target()
        let copy = try target.copy(store.mark())
        try Self.copy(try store.tables(), copy)
        let expected = try Self.digests(copy)
        try target.database.execute(
            """
            ALTER TABLE audit DISABLE TRIGGER USER;
            UPDATE merchants SET name = 'another' WHERE identifier = (SELECT min(identifier) FROM merchants);
            DELETE FROM claims WHERE id = (SELECT max(id) FROM claims);
            INSERT INTO daemon_values (name, value) VALUES ('further', '');
            UPDATE audit SET reason = NULL WHERE sequence = 2;
            """)
        let found = try Self.digests(copy)
        #expect(
            expected.keys.filter { found[$0] != expected[$0] }.sorted()
                == ["audit", "claims", "daemon_values", "merchants"])
        #expect(found["claims"]?.rows == 4 && found["merchants"]?.rows == expected["merchants"]?.rows)
    }

    @Test func `a database with content is refused as the target, and one that no daemon has used is accepted`()
        async throws
    {
        let store = try await CopiedStore()
        let target = try Target()
        let database = try target.database.open()
        #expect(try !target.copy(store.mark()).isResumed)
        try target.database.execute("DROP TABLE unfinished_copy")
        let postgres = PostgresStore(database, clock: SystemClock())
        try postgres.insert(SealedDataKey(identifier: 1, bytes: [1], masterKeyCheck: [1], createdAt: Sample.time(0)))
        postgres.close()
        let refusal = #expect(throws: MerchantError.self) { try target.copy(store.mark()) }
        #expect(refusal?.code == .storeUnavailable)
        #expect(try target.database.execute("SELECT count(*) FROM data_keys") == "1")
    }

    @Test func `a copy is refused while a daemon has a lease`() async throws {
        let target = try Target()
        let lock = try StartLock(target.database.settings(), durability: .notRequired)
        try lock.requireNoDaemon()
        _ = try target.database.open()
        try target.database.execute(
            """
            INSERT INTO nodes (name, run, version, joined_at, lease_end, cache_end, uses_stored_at, applied_change)
            SELECT 'a', 1, '1', 0, ended, ended, ended, 0 FROM (VALUES (clock_timestamp() + interval '1 minute')) AS rows (ended);
            """)
        #expect(throws: MerchantError.self) { try lock.requireNoDaemon() }
        try target.database.execute("UPDATE nodes SET lease_end = clock_timestamp() - interval '1 minute'")
        try lock.requireNoDaemon()
        // The lock is held until its connection closes.
        #expect(throws: MerchantError.self) {
            _ = try StartLock(target.database.settings(), waiting: .zero, durability: .notRequired)
        }
        withExtendedLifetime(lock) {}
    }
}
