import MerchantCore
import MerchantTestSupport
import PostgresStore
import Schema
import Secrets
import Testing

@Suite struct OpeningTests {
    let database: TemporaryDatabase

    init() throws { database = try TemporaryDatabase.empty() }

    @Test func `a server whose commits may be lost is refused`() async throws {
        let error = synchronousRefusal { _ = try database.open(durability: .required) }
        #expect(error?.code == .storeUnavailable)
        #expect(error?.detail.contains("fsync") == true)
        #expect(try database.server.execute("SELECT to_regnamespace('merchantkeyd') IS NULL", in: database.name) == "t")
    }

    @Test func `a database with synchronous_commit off is refused on a durable server`() async throws {
        let server = try PostgresServer()
        let durable = try TemporaryDatabase(on: server)
        _ = try durable.open()
        try server.execute("ALTER DATABASE \(durable.name) SET synchronous_commit = off")
        let error = synchronousRefusal { _ = try durable.open() }
        #expect(error?.detail.contains("synchronous_commit = off") == true)
        try server.execute("ALTER DATABASE \(durable.name) SET synchronous_commit = remote_write")
        _ = try durable.open()
    }

    @Test func `a read-only server, and a database with another encoding, are refused`() async throws {
        try database.server.execute("ALTER DATABASE \(database.name) SET default_transaction_read_only = on")
        let readOnly = synchronousRefusal { _ = try database.open() }
        #expect(readOnly?.code == .storeUnavailable)
        #expect(readOnly?.detail.contains("read-only") == true)
        let latin = "\(database.name)_latin"
        try database.server.execute("CREATE DATABASE \(latin) ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
        defer { try? database.server.dropDatabase(latin) }
        let settings = try ConnectionSettings(database.server.connection(to: latin))
        let encoding = synchronousRefusal {
            _ = try PostgresDatabase(settings, clock: SystemClock(), durability: .notRequired)
        }
        #expect(encoding?.detail.contains("LATIN1") == true)
    }

    @Test func `a role that permits too few connections for a daemon is refused`() throws {
        let role = "\(database.name)_few"
        try database.server.execute("CREATE ROLE \(role) LOGIN CONNECTION LIMIT 14")
        try database.server.execute("ALTER DATABASE \(database.name) OWNER TO \(role)")
        defer {
            _ = try? database.server.execute("ALTER DATABASE \(database.name) OWNER TO CURRENT_USER")
            _ = try? database.server.execute("DROP OWNED BY \(role)", in: database.name)
            _ = try? database.server.execute("DROP ROLE \(role)")
        }
        let settings = try ConnectionSettings(
            "host=\(database.server.directory) dbname=\(database.name) user=\(role)")
        func refusals() -> [MerchantError?] {
            [
                synchronousRefusal {
                    try PostgresDatabase(settings, clock: SystemClock(), durability: .notRequired).requireConnections()
                },
                synchronousRefusal { _ = try PostgresDatabase.check(settings, durability: .notRequired) },
            ]
        }
        for refusal in refusals() {
            #expect(refusal?.code == .storeUnavailable)
            #expect(refusal?.detail.contains("14 connections") == true)
        }
        try database.server.execute("ALTER ROLE \(role) CONNECTION LIMIT 15")
        #expect(refusals() == [nil, nil])
    }

    @Test(arguments: [
        ("CREATE TABLE public.customers (id integer)", "public.customers"),
        ("CREATE SCHEMA shop; CREATE TABLE shop.orders (id integer)", "shop.orders"),
        ("CREATE SCHEMA merchantkeyd", "another program"),
        ("CREATE SCHEMA merchantkeyd; CREATE TABLE merchantkeyd.migrations (version integer)", "another program"),
    ])
    func `a database of another program is refused and not changed`(content: String, named: String) throws {
        try database.server.execute(content, in: database.name)
        let before = try database.server.execute("SELECT count(*) FROM pg_class", in: database.name)
        let error = synchronousRefusal { _ = try database.open() }
        #expect(error?.code == .storeUnavailable)
        #expect(error?.detail.contains(named) == true)
        #expect(try database.server.execute("SELECT count(*) FROM pg_class", in: database.name) == before)
    }

    /// `backup restore --replace` renames the old schema and creates a new one. Here the new one is missing.
    @Test func `a database whose schema was removed after a restore is not treated as a new one`() throws {
        let kept = "merchantkeyd_replaced_20261127t140000z"
        _ = try database.open()
        try database.server.execute("ALTER SCHEMA merchantkeyd RENAME TO \(kept)", in: database.name)
        let error = synchronousRefusal { _ = try database.open() }
        #expect(error?.code == .storeUnavailable)
        #expect(error?.detail.contains("ALTER SCHEMA \(kept) RENAME TO merchantkeyd") == true)
        #expect(
            try PostgresCopy.hasData(
                ConnectionSettings(database.server.connection(to: database.name)), durability: .notRequired) == false)
        try database.server.execute("ALTER SCHEMA \(kept) RENAME TO merchantkeyd", in: database.name)
        _ = try database.open()
    }

    @Test func `for a server that cannot be reached, and a missing database, the store is unavailable`() throws {
        let scratch = try Scratch()
        for connection in [
            "host=\(scratch.directory) dbname=a user=b", "host=127.0.0.1 port=1 dbname=a user=b",
            database.server.connection(to: "no_such_database"),
        ] {
            let error = synchronousRefusal {
                _ = try PostgresDatabase(ConnectionSettings(connection), clock: SystemClock())
            }
            #expect(error?.code == .storeUnavailable)
        }
    }

    @Test func `a password appears in no error`() throws {
        try database.server.execute("CREATE ROLE \(database.name)_guest LOGIN PASSWORD 'Sesame-1'")
        defer { _ = try? database.server.execute("DROP ROLE \(database.name)_guest") }
        let settings = try ConnectionSettings(
            "host=\(database.server.directory) dbname=no_such_database user=\(database.name)_guest"
        ) { .init(copying: "Sesame-1".utf8) }
        let error = synchronousRefusal { _ = try PostgresDatabase(settings, clock: SystemClock()) }
        #expect(error?.code == .storeUnavailable)
        #expect(error?.detail.contains("Sesame") == false)
    }

    @Test func `a migration with changed SQL, and a schema that is two versions ahead, are refused`() throws {
        _ = try database.open()
        let other = synchronousRefusal {
            _ = try database.open(migrations: Schema.postgresqlMigrations.map { ($0.name, $0.sql + "\n") })
        }
        #expect(other?.code == .storeUnavailable)
        #expect(other?.detail.contains("differs") == true)
        let next = Schema.postgresqlMigrations + [("v9998_next", "CREATE TABLE merchantkeyd.next (id bigint);")]
        _ = try database.open(migrations: next)
        _ = try database.open(migrations: next)
        // During an upgrade, daemons of the previous version continue to run and can restart.
        _ = try database.open()
        _ = try database.open(
            migrations: next + [("v9999_last", "CREATE TABLE merchantkeyd.last (id bigint);")])
        let newer = synchronousRefusal { _ = try database.open() }
        #expect(newer?.detail.contains("newer") == true)
        _ = try database.open(migrations: next)
    }

    @Test func `a migration that fails changes nothing, and the ones before it stay applied`() throws {
        let broken =
            Schema.postgresqlMigrations + [
                ("v9999_broken", "CREATE TABLE merchantkeyd.next (id bigint); SELECT 1 / 0;")
            ]
        #expect(synchronousRefusal { _ = try database.open(migrations: broken) } != nil)
        #expect(try database.execute("SELECT to_regclass('next') IS NULL, count(*) FROM migrations") == "t|1")
        _ = try database.open()
    }

    @Test func `daemons that start at the same time create the schema once`() async throws {
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            for _ in 0..<6 { tasks.addTask { [database] in _ = try database.open() } }
            try await tasks.waitForAll()
        }
        #expect(try database.execute("SELECT count(*) FROM migrations") == "\(Schema.postgresqlMigrations.count)")
    }
}
