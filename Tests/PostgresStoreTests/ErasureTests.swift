import Dispatch
import MerchantCore
import MerchantTestSupport
import PostgresStore
import Synchronization
import Testing

@Suite struct ErasureTests {
    let database: TemporaryDatabase

    init() throws { database = try TemporaryDatabase() }

    /// Another session that locks the table of private keys, as CREATE INDEX CONCURRENTLY does.
    private final class TableLock: Sendable {
        private let database: TemporaryDatabase
        private let session: BlockingRun

        init(on database: TemporaryDatabase) async throws {
            self.database = database
            session = BlockingRun {
                _ = try? database.execute(
                    """
                    BEGIN; LOCK TABLE sealed_private_keys IN SHARE UPDATE EXCLUSIVE MODE; SELECT pg_sleep(3600);
                    """)
            }
            try await eventually { try database.execute("SELECT count(*) \(Self.granted)") == "1" }
        }

        private static let granted = """
            FROM pg_locks
            WHERE relation = 'sealed_private_keys'::regclass AND mode = 'ShareUpdateExclusiveLock' AND granted
            """

        func end() {
            _ = try? database.execute("SELECT pg_terminate_backend(pid) \(Self.granted)")
            session.wait()
        }
    }

    /// How often VACUUM has completed on the table.
    private func vacuums(of table: String) throws -> String {
        try database.execute("SELECT vacuum_count FROM pg_stat_user_tables WHERE relname = '\(table)'")
    }

    @Test func `reads continue while VACUUM waits for a lock of another session`() async throws {
        var limits = TemporaryDatabase.limits
        limits.readers = 1
        let store = try database.store(limits)
        defer { store.close() }
        let lock = try await TableLock(on: database)
        let erasure = Task { await refusal { try await store.eraseCopiesOfDestroyedSecrets() } }
        try await eventually {
            try database.execute(
                """
                SELECT count(*) FROM pg_stat_activity
                WHERE datname = '\(database.name)' AND query LIKE 'VACUUM%' AND wait_event_type = 'Lock'
                """) == "1"
        }
        let isRead = Mutex(false)
        let read = Task {
            _ = try await store.read { try $0.auditHead() }
            isRead.withLock { $0 = true }
        }
        try await eventually { isRead.withLock { $0 } }
        lock.end()
        try await read.value
        #expect(await erasure.value == nil)
        #expect(try vacuums(of: "sealed_private_keys") == "1")
    }

    @Test func `an erasure skips a table that another session locks, and the next erasure includes it`() async throws {
        var limits = TemporaryDatabase.limits
        limits.lock = .milliseconds(100)
        let warnings = Mutex<[String]>([])
        let opened = try PostgresDatabase(
            database.settings(limits), clock: SystemClock(), durability: .notRequired,
            notice: { severity, sqlState, _ in warnings.withLock { $0.append("\(severity) \(sqlState)") } })
        let store = PostgresStore(opened, clock: SystemClock())
        defer { store.close() }
        let lock = try await TableLock(on: database)
        let outcome = Mutex<MerchantError??>(nil)
        let erasure = Task {
            let error = await refusal { try await store.eraseCopiesOfDestroyedSecrets() }
            outcome.withLock { $0 = .some(error) }
        }
        try await eventually { outcome.withLock { $0 } != nil }
        #expect(try vacuums(of: "sealed_private_keys") == "0")
        lock.end()
        await erasure.value
        #expect(outcome.withLock { $0 } == .some(nil))
        #expect(warnings.withLock { $0 } == ["WARNING 55P03"])
        for table in ["sealed_mpans", "data_keys"] { #expect(try vacuums(of: table) == "1") }
        try await store.eraseCopiesOfDestroyedSecrets()
        #expect(try vacuums(of: "sealed_private_keys") == "1")
    }

    @Test func `one erasure is done for all callers that requested one before it began`() async throws {
        let gate = DispatchSemaphore(value: 0)
        let begun = Mutex(0)
        let erasures = ErasureQueue {
            begun.withLock { $0 += 1 }
            gate.wait()
        }
        let first = Task { try await erasures.run() }
        try await eventually { begun.withLock { $0 } == 1 }
        let others = (0..<5).map { _ in Task { try await erasures.run() } }
        try await eventually { erasures.requestCount == 6 }
        for _ in 0..<2 { gate.signal() }
        for caller in [first] + others { try await caller.value }
        #expect(begun.withLock { $0 } == 2)
    }

    @Test func `the error of an erasure is reported, and the next request runs an erasure again`() async throws {
        let failures = Mutex([MerchantError(.storeUnavailable, "the server is down")])
        let erasures = ErasureQueue { if let error = failures.withLock({ $0.popLast() }) { throw error } }
        #expect(await refusal { try await erasures.run() }?.code == .storeUnavailable)
        try await erasures.run()
    }
}
