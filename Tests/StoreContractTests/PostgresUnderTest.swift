import MerchantCore
import MerchantTestSupport
import PostgresStore

/// A database of the test process's PostgreSQL server, with the schema and one data key.
struct PostgresUnderTest: Sendable {
    private let server: PostgresServer
    private let name: String

    /// The server, and the name of the database that is copied for each test.
    private static let template = Result {
        let server = try PostgresServer.shared.get()
        let database = PostgresUnderTest(server: server, name: try server.createDatabase())
        let store = PostgresStore(try database.open(), clock: SystemClock())
        try store.insert(SealedDataKey(identifier: 1, bytes: [1], masterKeyCheck: [1], createdAt: Sample.time(0)))
        store.close()
        return database
    }

    static func create() throws -> PostgresUnderTest {
        let template = try template.get()
        return PostgresUnderTest(
            server: template.server, name: try template.server.createDatabase(from: template.name))
    }

    func open() throws -> PostgresDatabase {
        var limits = ConnectionSettings.Limits()
        limits.readers = 2
        // Many tests share few processors.
        limits.waiting = .seconds(60)
        limits.statement = .seconds(60)
        return try PostgresDatabase(
            ConnectionSettings(server.connection(to: name), limits: limits), clock: SystemClock(),
            durability: .notRequired)
    }

    func remove() { try? server.dropDatabase(name) }
}
