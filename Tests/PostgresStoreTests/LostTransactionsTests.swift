import MerchantCore
import MerchantTestSupport
import PostgresStore
import Synchronization
import Testing
import Vocabulary

/// A failover to a standby that lags behind: the daemon finds a database without the last audit records.
@Suite struct LostTransactionsTests {
    private final class Record: AuditObserver {
        let heads = Mutex<[AuditHead]>([])

        func auditGrew(to head: AuditHead, inLog generation: String) { heads.withLock { $0.append(head) } }
    }

    private let database: TemporaryDatabase
    /// The name of a copy of the database from before the first audit record.
    private let older: String
    private let record = Record()
    private let known: KnownAuditHead
    private let store: PostgresStore
    private let claims: PostgresClaims

    init() throws {
        database = try TemporaryDatabase()
        try database.store().close()
        older = try database.server.createDatabase(from: database.name)
        known = KnownAuditHead(nil, recordingIn: record)
        let opened = try database.open().requiring(known)
        store = PostgresStore(opened, clock: SystemClock(), observers: StoreObservers(audit: known))
        claims = try PostgresClaims(opened, clock: SystemClock())
    }

    private func add(_ number: Int) async throws {
        try await store.write {
            try $0.insert(Sample.record(number))
            try $0.append(Sample.entry(number))
        }
    }

    private func claim(_ number: Int) async throws {
        _ = try await claims.claim(
            TokenClaim(transactionId: Sample.hash(number).bits, caller: "uid:1", at: Sample.time, requestIdentity: nil))
    }

    private func failOver() throws {
        try database.server.dropDatabase(database.name)
        try database.server.execute("ALTER DATABASE \(older) RENAME TO \(database.name)")
    }

    @Test func `after a loss, changes, claims and reads are refused, and no later record hides the loss`() async throws
    {
        defer {
            store.close()
            claims.close()
        }
        try await add(1)
        try await claim(1)
        let head = try #require(known.value)
        try failOver()
        // More changes than were lost: their records would have higher numbers than the lost one.
        for number in 2..<6 {
            #expect(await refusal { try await add(number) }?.code == .storeUnavailable)
        }
        #expect(await refusal { try await claim(2) }?.code == .storeUnavailable)
        #expect(await refusal { _ = try await store.read { try $0.auditHead() } }?.code == .storeUnavailable)
        #expect(known.value == head && record.heads.withLock { $0 } == [head])
        #expect(try database.execute("SELECT (SELECT count(*) FROM audit), (SELECT count(*) FROM claims)") == "0|0")
    }

    @Test func `a database that contains the known record is used, also if it has later records`() async throws {
        defer {
            store.close()
            claims.close()
        }
        try await add(1)
        let other = try database.store()
        defer { other.close() }
        try await other.write {
            try $0.insert(Sample.record(2))
            try $0.append(Sample.entry(2))
        }
        try database.server.execute(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = '\(database.name)'")
        try await add(3)
        try await claim(1)
        #expect(try await store.read { try $0.auditHead() }?.sequence == 3)
    }
}
