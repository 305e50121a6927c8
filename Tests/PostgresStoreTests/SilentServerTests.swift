import MerchantCore
import MerchantTestSupport
import PostgresStore
import Testing
import Vocabulary

/// The network drops all packets, so the server neither answers nor refuses a connection.
@Suite struct SilentServerTests {
    private let database: TemporaryDatabase
    private let proxy: FaultyProxy

    init() throws {
        database = try TemporaryDatabase()
        proxy = try FaultyProxy(to: database.server)
    }

    /// Starts 20 reads at the same time, on a store with one reading thread, while the server is silent.
    ///
    /// - Returns: the store, and the codes of the errors.
    private func readWithoutServer(
        waiting: Duration
    ) async throws -> (store: PostgresStore, codes: [MerchantError.Code?]) {
        var limits = TemporaryDatabase.limits
        limits.readers = 1
        limits.waiting = waiting
        limits.connecting = .seconds(2)
        let settings = try ConnectionSettings(
            "host=\(proxy.scratch.directory) user=merchantkeyd dbname=\(database.name)", limits: limits)
        let store = PostgresStore(
            try PostgresDatabase(settings, clock: SystemClock(), durability: .notRequired), clock: SystemClock())
        proxy.ignoreConnections()
        let codes = await withTaskGroup(of: MerchantError.Code?.self) { tasks in
            for _ in 0..<20 {
                tasks.addTask { await refusal { _ = try await store.read { try $0.auditHead() } }?.code }
            }
            return await tasks.reduce(into: []) { $0.append($1) }
        }
        return (store, codes)
    }

    @Test func `reads share attempts to connect to a silent server, and succeed when the server is back`()
        async throws
    {
        let (store, codes) = try await readWithoutServer(waiting: .seconds(60))
        defer {
            store.close()
            proxy.close()
        }
        #expect(codes.allSatisfy { $0 == .storeUnavailable })
        // One attempt, and a further one only if the reads take longer than the pause between two attempts.
        #expect(proxy.ignoredConnections < 5)
        proxy.acceptConnections()
        try await eventually { synchronousRefusal { _ = try store.readNow { try $0.auditHead() } } == nil }
    }

    @Test func `a read that has waited for a thread for too long is refused as overloaded`() async throws {
        let (store, codes) = try await readWithoutServer(waiting: .milliseconds(500))
        defer {
            store.close()
            proxy.close()
        }
        #expect(codes.allSatisfy { $0 == .storeUnavailable || $0 == .overloaded })
        #expect(codes.contains(.overloaded))
    }

    @Test func `changes that wait for the writing connection share attempts to connect to a silent server`()
        async throws
    {
        var limits = TemporaryDatabase.limits
        limits.connecting = .seconds(2)
        let settings = try ConnectionSettings(
            "host=\(proxy.scratch.directory) user=merchantkeyd dbname=\(database.name)", limits: limits)
        let claims = try PostgresClaims(
            try PostgresDatabase(settings, clock: SystemClock(), durability: .notRequired), clock: SystemClock())
        defer {
            claims.close()
            proxy.close()
        }
        proxy.ignoreConnections()
        // So many claims are written in six groups.
        let codes = await withTaskGroup(of: MerchantError.Code?.self) { tasks in
            for number in 0..<3000 {
                let claim = TokenClaim(
                    transactionId: Sample.hash(number).bits, caller: "uid:1", at: Sample.time, requestIdentity: nil)
                tasks.addTask { await refusal { _ = try await claims.claim(claim) }?.code }
            }
            return await tasks.reduce(into: []) { $0.append($1) }
        }
        #expect(codes.allSatisfy { $0 == .storeUnavailable })
        // One attempt, and a further one only if the groups take longer than the pause between two attempts.
        #expect(proxy.ignoredConnections < 4)
        proxy.acceptConnections()
        let claim = TokenClaim(
            transactionId: Sample.hash(1).bits, caller: "uid:1", at: Sample.time, requestIdentity: nil)
        try await eventually { await refusal { _ = try await claims.claim(claim) } == nil }
    }
}
