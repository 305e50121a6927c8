import MerchantCore
import MerchantTestSupport
import PostgresStore

/// A database of the test process's PostgreSQL server.
struct PostgresUnderTest: Sendable {
    private let server: PostgresServer
    private let name: String

    /// The database that ``create()`` copies.
    private static let template = Result {
        let server = try PostgresServer.shared.get()
        let database = PostgresUnderTest(server: server, name: try server.createDatabase())
        let store = PostgresStore(try database.open(), clock: SystemClock())
        try store.insert(SealedDataKey(identifier: 1, bytes: [1], masterKeyCheck: [1], createdAt: Sample.time(0)))
        store.close()
        return database
    }

    /// A database with the schema and one data key.
    static func create() throws -> PostgresUnderTest {
        let template = try template.get()
        return PostgresUnderTest(
            server: template.server, name: try template.server.createDatabase(from: template.name))
    }

    /// A database without any table.
    static func empty() throws -> PostgresUnderTest {
        let server = try PostgresServer.shared.get()
        return PostgresUnderTest(server: server, name: try server.createDatabase())
    }

    func settings() throws -> ConnectionSettings {
        var limits = ConnectionSettings.Limits()
        limits.readers = 2
        // Many tests share few processors, so a statement can take long.
        limits.waiting = .seconds(60)
        limits.statement = .seconds(60)
        return try ConnectionSettings(server.connection(to: name), limits: limits)
    }

    func open() throws -> PostgresDatabase {
        try PostgresDatabase(settings(), clock: SystemClock(), durability: .notRequired)
    }

    /// Runs SQL statements as the owner of the tables.
    @discardableResult
    func execute(_ sql: String) throws -> String {
        try server.execute("SET search_path = merchantkeyd;\n\(sql)", in: name)
    }

    func remove() { try? server.dropDatabase(name) }
}
