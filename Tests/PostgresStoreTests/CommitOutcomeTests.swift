import MerchantCore
import MerchantTestSupport
import PostgresStore
import Testing
import Vocabulary

/// The connection is lost during a commit.
@Suite struct CommitOutcomeTests {
    private let database: TemporaryDatabase
    private let proxy: FaultyProxy

    init() throws {
        database = try TemporaryDatabase()
        proxy = try FaultyProxy(to: database.server)
    }

    /// A store that connects through the proxy.
    private func store(settlement: Duration = .seconds(60)) throws -> PostgresStore {
        _ = try database.store()
        var limits = TemporaryDatabase.limits
        limits.settlement = settlement
        let settings = try ConnectionSettings(
            "host=\(proxy.scratch.directory) user=merchantkeyd dbname=\(database.name)", limits: limits)
        return PostgresStore(
            try PostgresDatabase(settings, clock: SystemClock(), durability: .notRequired), clock: SystemClock())
    }

    @Test func `a commit whose response was lost is a success, because the store asks for its outcome`() async throws {
        let store = try store()
        defer { proxy.close() }
        for number in 0..<3 {
            proxy.cutNextCommit(.afterCommit)
            try await store.write { try $0.insert(Sample.record(number)) }
        }
        #expect(proxy.cutConnections == 3)
        #expect(try database.execute("SELECT count(*) FROM merchants") == "3")
        #expect(store.health == .ready)
    }

    @Test func `a commit that did not reach the server is an error, and changes nothing`() async throws {
        let store = try store()
        defer { proxy.close() }
        proxy.cutNextCommit(.beforeCommit)
        let error = await refusal { try await store.write { try $0.insert(Sample.record(1)) } }
        #expect(error?.code == .storeUnavailable)
        #expect(try database.execute("SELECT count(*) FROM merchants") == "0")
        try await store.write { try $0.insert(Sample.record(1)) }
    }

    @Test func `a commit whose outcome cannot be found out in time is an error that says so`() async throws {
        let store = try store(settlement: .milliseconds(200))
        defer { proxy.close() }
        proxy.cutNextCommit(.afterCommit, permanently: true)
        let error = await refusal { try await store.write { try $0.insert(Sample.record(1)) } }
        #expect(error?.code == .storeUnavailable)
        #expect(error?.detail.contains("not known") == true)
        guard case .impaired = store.health else {
            Issue.record("\(store.health)")
            return
        }
        proxy.acceptConnections()
        let again = await refusal { try await store.write { try $0.insert(Sample.record(1)) } }
        #expect(again?.code == .merchantExists)
    }

    @Test func `a claim whose response was lost succeeds once`() async throws {
        _ = try store()
        defer { proxy.close() }
        let settings = try ConnectionSettings(
            "host=\(proxy.scratch.directory) user=merchantkeyd dbname=\(database.name)",
            limits: TemporaryDatabase.limits)
        let claims = try PostgresClaims(
            try PostgresDatabase(settings, clock: SystemClock(), durability: .notRequired), clock: SystemClock())
        let claim = TokenClaim(
            transactionId: Sample.hash(1).bits, caller: "uid:1", at: Sample.time, requestIdentity: nil)
        proxy.cutNextCommit(.afterCommit)
        #expect(try await claims.claim(claim) == .claimed)
        #expect(proxy.cutConnections == 1)
        #expect(await refusal { _ = try await claims.claim(claim) }?.code == .tokenAlreadyClaimed)
    }
}

/// A commit that waits for the synchronous standby when the server restarts.
@Suite struct UnconfirmedCommitTests {
    @Test func `a commit is no success if the standby did not confirm it before the server restarted`() async throws {
        let server = try PostgresServer()
        let database = try TemporaryDatabase(on: server)
        var limits = TemporaryDatabase.limits
        // The daemon waits five seconds longer than this for the response.
        limits.statement = .seconds(2)
        let store = try database.store(limits)
        defer { store.close() }
        try await store.write { try $0.insert(Sample.record(1)) }
        // Otherwise the statement that drops the database would wait for the standby.
        defer {
            _ = try? server.execute("ALTER SYSTEM RESET synchronous_standby_names")
            _ = try? server.execute("SELECT pg_reload_conf()")
        }
        try server.execute("ALTER SYSTEM SET synchronous_standby_names = 'missing'")
        try server.execute("SELECT pg_reload_conf()")
        async let result = refusal { try await store.write { try $0.insert(Sample.record(2)) } }
        try await eventually {
            try server.execute("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'") == "1"
        }
        try server.crash()
        try server.start()
        let error = await result
        #expect(error?.code == .storeUnavailable && error?.detail.contains("not known") == true)
        // The server itself reports the transaction as committed.
        #expect(try database.execute("SELECT count(*) FROM merchants") == "2")
    }
}
