import MerchantCore
import MerchantTestSupport
import PostgresStore
import Testing
import Vocabulary

/// Plans of the statements on the connection that writes.
@Suite struct WritePlanTests {
    let database: TemporaryDatabase

    init() throws { database = try TemporaryDatabase() }

    /// For a table of one page, PostgreSQL prefers a scan to an index, and keeps the plan when the table grows.
    @Test func `a write finds rows by an index, although the tables are almost empty`() async throws {
        let store = try database.store()
        try await store.write { transaction in
            try transaction.insert(Sample.record(0))
            try transaction.insert(Sample.keyPair(0), Sample.new(Sample.keyPair(0)))
        }
        // Without statistics, PostgreSQL assumes ten pages.
        try database.execute("ANALYZE")
        store.close()
        let before = try await scans()
        let writer = try database.store()
        let seen = Occurrences(count: 1, first: Sample.time, last: Sample.time)
        // The first five plans are made for the statement's values; the next is made for all values, and kept.
        for _ in 0..<8 {
            try await writer.write { transaction in
                _ = try transaction.keyPair(Sample.hash(0))
                try transaction.update(Sample.record(0))
                try transaction.addKeyUses([(Sample.hash(0), KeyUse(requests: seen))])
                _ = try transaction.keyPairsChanged(by: [(Sample.hash(0), KeyUse(requests: seen))])
                _ = try transaction.openRoll(of: Sample.merchant(0), algorithm: .ecV1)
            }
        }
        writer.close()
        #expect(try await scans() == before)
        #expect(try await database.store().read { try $0.keyUse(of: Sample.hash(0))?.requests?.count } == 8)
    }
    /// How often the tables were scanned. PostgreSQL has counted all scans of a connection only when the connection has
    /// ended.
    private func scans() async throws -> String {
        try await eventually {
            try database.execute(
                """
                SELECT count(*) FROM pg_stat_activity
                WHERE datname = '\(database.name)' AND pid <> pg_backend_pid() AND backend_type = 'client backend'
                """) == "0"
        }
        return try database.execute(
            """
            SELECT sum(seq_scan) FROM pg_stat_user_tables
            WHERE schemaname = 'merchantkeyd' AND relname IN ('merchants', 'key_pairs', 'key_uses', 'rolls')
            """)
    }
}
