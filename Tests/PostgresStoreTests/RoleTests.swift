import MerchantCore
import MerchantTestSupport
import PostgresStore
import Schema
import Testing
import Vocabulary

/// A daemon that connects as a role with few rights.
@Suite struct RoleTests {
    @Test func `a daemon can work without the right to change the schema, the audit or history`() async throws {
        let server = try PostgresServer(settings: ["fsync=off"])
        let name = try server.createDatabase()
        let owner = try ConnectionSettings(server.connection(to: name))
        _ = try PostgresDatabase(owner, clock: SystemClock(), durability: .notRequired)
        try server.execute("CREATE ROLE merchantkeyd_daemon LOGIN")
        let count = Schema.postgresqlMigrations.count
        for _ in 0..<2 {
            let versions = try PostgresDatabase.migrate(owner, clock: SystemClock(), durability: .notRequired)
            #expect([versions.before, versions.now] == [count, count])
        }
        let settings = try ConnectionSettings("host=\(server.directory) user=merchantkeyd_daemon dbname=\(name)")
        let database = try PostgresDatabase(settings, clock: SystemClock(), durability: .notRequired)

        let store = PostgresStore(database, clock: SystemClock())
        defer { store.close() }
        try store.insert(Sample.dataKey)
        try await store.write { transaction in
            try transaction.insert(Sample.record(0))
            try transaction.insert(Sample.keyPair(1), Sample.new(Sample.keyPair(1)))
            _ = try transaction.insert(Sample.certificate(1), of: Sample.hash(1))
            try transaction.append(Sample.entry(0))
            try transaction.setWebhooks([WebhookRegistration(name: "a", kinds: nil)], at: Sample.time)
            try transaction.append(Event(.belowTarget, .notice, at: Sample.time, detail: "d"))
        }
        try await store.write { transaction in
            try transaction.markDelivered(1, to: "a", at: Sample.time)
            #expect(try transaction.removeEvents(occurredBefore: Sample.time.adding(.seconds(1)), limit: 9) == 1)
            var keyPair = Sample.keyPair(1, .revoked)
            try transaction.update(keyPair)
            keyPair.state = .destroyed
            try transaction.update(keyPair)
        }
        try await store.eraseCopiesOfDestroyedSecrets()
        let claims = try PostgresClaims(database, clock: SystemClock())
        defer { claims.close() }
        for seconds in [0, 4000] {
            let claim = TokenClaim(
                transactionId: Sample.hash(seconds).bits, caller: "uid:1", at: Sample.time.adding(.seconds(seconds)),
                requestIdentity: nil)
            #expect(try await claims.claim(claim) == .claimed)
        }
        #expect(try await claims.claim(of: Sample.hash(0).bits) == nil)
        // A backup reads every table, and the counters of the tables.
        let tables = try PostgresTables(settings, asOwner: false, durability: .notRequired)
        #expect(try tables.assignedNumbers()["audit"] == 1)

        for statement in [
            "UPDATE merchantkeyd.audit SET reason = 'another'", "DELETE FROM merchantkeyd.audit",
            "TRUNCATE merchantkeyd.audit", "ALTER TABLE merchantkeyd.audit DISABLE TRIGGER ALL",
            "DELETE FROM merchantkeyd.merchants", "DELETE FROM merchantkeyd.audit_head",
            "UPDATE merchantkeyd.migrations SET name = 'a'", "CREATE TABLE merchantkeyd.other (id integer)",
            "DROP SCHEMA merchantkeyd CASCADE",
        ] {
            let error = #expect(throws: ChildProcess.Failure.self) {
                try server.execute("SET ROLE merchantkeyd_daemon; \(statement)", in: name)
            }
            #expect(
                error?.outcome.error.contains("permission denied") == true
                    || error?.outcome.error.contains("must be owner") == true, "\(statement)")
        }
    }

    @Test func `a daemon that may not create the schema is refused with a message that names migrate`() throws {
        let server = try PostgresServer(settings: ["fsync=off"])
        try server.execute("CREATE ROLE merchantkeyd_daemon LOGIN")
        let name = try server.createDatabase()
        let daemon = try ConnectionSettings("host=\(server.directory) user=merchantkeyd_daemon dbname=\(name)")
        let error = synchronousRefusal {
            _ = try PostgresDatabase(daemon, clock: SystemClock(), durability: .notRequired)
        }
        #expect(error?.code == .storeUnavailable)
        #expect(error?.detail.contains("merchantkeyd migrate") == true)
    }

    @Test func `a daemon that may not upgrade the schema is refused, until the owner has migrated it`() throws {
        let server = try PostgresServer(settings: ["fsync=off"])
        try server.execute("CREATE ROLE merchantkeyd_daemon LOGIN")
        let name = try server.createDatabase()
        let owner = try ConnectionSettings(server.connection(to: name))
        let daemon = try ConnectionSettings("host=\(server.directory) user=merchantkeyd_daemon dbname=\(name)")
        let count = Schema.postgresqlMigrations.count
        let next = Schema.postgresqlMigrations + [("v9999_next", "CREATE TABLE merchantkeyd.next (id bigint);")]
        let created = try PostgresDatabase.migrate(owner, clock: SystemClock(), durability: .notRequired)
        #expect([created.before, created.now] == [0, count])
        func open() throws {
            _ = try PostgresDatabase(daemon, clock: SystemClock(), durability: .notRequired, migrations: next)
        }
        let refusal = #expect(throws: MerchantError.self) { try open() }
        #expect(refusal?.detail.contains("merchantkeyd migrate") == true)
        let versions = try PostgresDatabase.migrate(
            owner, clock: SystemClock(), durability: .notRequired, migrations: next)
        #expect([versions.before, versions.now] == [count, count + 1])
        try open()
        #expect(
            try server.execute("SET ROLE merchantkeyd_daemon; SELECT count(*) FROM merchantkeyd.next", in: name) == "0")
    }
}
