import Foundation
import MerchantTestSupport
import Testing

/// The store of the daemons that the tests start: SQLite, or PostgreSQL with `MERCHANTKEYD_TEST_STORE=postgresql`.
struct TestStore: Sendable {
    static let isPostgreSQL = ProcessInfo.processInfo.environment["MERCHANTKEYD_TEST_STORE"] == "postgresql"

    /// The server of all tests. Its commits are durable, because the daemon refuses a server without durable commits.
    private static let server = Result { try PostgresServer(settings: ["max_connections=400"]) }

    /// The name of the installation's database; nil for SQLite.
    private let database: String?

    /// Creates a database for one installation; none for SQLite, where the daemon creates it.
    init() throws { database = Self.isPostgreSQL ? try Self.server.get().createDatabase() : nil }

    /// The settings of the daemon as environment variables. They override the settings file.
    var variables: [String: String] {
        get throws {
            guard let database else { return [:] }
            return [
                "MERCHANTKEYD_STORE_KIND": "postgresql",
                "MERCHANTKEYD_STORE_POSTGRESQL_CONNECTION": try Self.server.get().connection(to: database),
            ]
        }
    }

    /// Executes SQL statements in the PostgreSQL database.
    ///
    /// - Returns: the rows, one on each line, values separated by spaces; nil for SQLite.
    func execute(_ sql: String) throws -> String? {
        guard let database else { return nil }
        return try Self.server.get().execute("SET search_path = merchantkeyd;\n\(sql)", in: database)
            .replacing("|", with: " ")
    }
}

extension Trait where Self == ConditionTrait {
    /// For a test or suite about the files of SQLite, or about commands that work on them.
    static var onlyOnSQLite: Self { .disabled(if: TestStore.isPostgreSQL, "is about the files of SQLite") }
}
