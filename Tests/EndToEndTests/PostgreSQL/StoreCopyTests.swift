import Foundation
import Glibc
import MerchantTestSupport
import Testing

/// `merchantkeyctl store copy` with the real programs and a real PostgreSQL server.
@Suite(.onlyOnSQLite) struct StoreCopyTests {
    let postgres: PostgresInstallation
    /// The settings files of the daemon on SQLite, and of the daemon on PostgreSQL. Both use the same state directory.
    private let sqlite: String
    private let postgresql: String

    private var installation: Installation { postgres.installation }

    init() throws {
        postgres = try PostgresInstallation()
        let installation = postgres.installation
        sqlite = try installation.write(
            """
            environment: sandbox
            state-directory: \(installation.stateDirectory)
            trust:
              token-roots: [\(installation.path("apple/root.pem"))]
            """, "sqlite.yaml")
        postgresql = try postgres.config(
            postgres.server.createDatabase(), "state-directory: \(installation.stateDirectory)",
            named: "postgresql.yaml")
    }

    private func copy(from: String, to: String, _ arguments: String...) throws -> Installation.Outcome {
        try Installation.run(
            [
                "\(Installation.programs)/merchantkeyctl", "--output", "json", "store", "copy", "--from", from, "--to",
                to,
            ]
                + arguments)
    }

    /// Copies, and returns the result, which must be good.
    private func copied(from: String, to: String) throws -> [String: Any] {
        let outcome = try copy(from: from, to: to)
        try #require(outcome.status == 0, "\(outcome.error) \(outcome.output)")
        let result = try outcome.json()
        #expect(result["good"] as? Bool == true)
        #expect(Installation.items(result["tables"]).allSatisfy { $0["equal"] as? Bool == true })
        return result
    }

    private func rowCount(_ result: [String: Any], _ table: String) -> Int? {
        Installation.items(result["tables"]).first { $0["name"] as? String == table }?["rows"] as? Int
    }

    /// Moves the files of the SQLite database out of the state directory.
    private func moveDatabaseAway(to directory: String) throws {
        try FileManager.default.createDirectory(
            atPath: installation.path(directory), withIntermediateDirectories: false)
        for name in try FileManager.default.contentsOfDirectory(atPath: installation.stateDirectory)
        where name.contains(".sqlite") {
            try FileManager.default.moveItem(
                atPath: installation.path("state/\(name)"), toPath: installation.path("\(directory)/\(name)"))
        }
    }

    /// Expects that the key resolves, the claimed token is still refused, and another token can be claimed.
    private func expectSameData(_ hash: String, claimed token: String) throws {
        #expect(try postgres.resolve(hash) == "200")
        #expect(try installation.ctl("token", "decrypt", token).status == 0)
        #expect(try installation.ctl("token", "decrypt", token, "--claim").refusalCode == "tokenAlreadyClaimed")
        #expect(try installation.ctl("token", "decrypt", postgres.token(), "--claim").status == 0)
        #expect(try installation.ctl("audit", "verify").status == 0)
    }

    @Test func `a daemon moves to PostgreSQL and back, with its keys, claims and audit`() throws {
        try installation.start(config: sqlite)
        let hash = try postgres.onboard()
        let token = try postgres.token()
        #expect(try installation.ctl("token", "decrypt", token, "--claim").status == 0)
        #expect(installation.stop() == 0)

        let toPostgreSQL = try copied(from: sqlite, to: postgresql)
        #expect(toPostgreSQL["keyPairsVerified"] as? Int ?? 0 >= 1 && rowCount(toPostgreSQL, "claims") == 1)
        let next = try #require(toPostgreSQL["next"] as? [String])
        #expect(next.contains { $0.contains(installation.database) })
        let refused = try installation.failedStart([
            "--config", postgresql, "--state-directory", installation.stateDirectory,
        ])
        // The state directory contains the SQLite database.
        #expect(refused.status == 1 && refused.error.contains(installation.database), "\(refused.error)")
        try moveDatabaseAway(to: "before")
        try installation.start(config: postgresql)
        try expectSameData(hash, claimed: token)
        #expect(try installation.auditRecords("storeCopied").count == 1)
        #expect(try installation.ctl("merchant", "add", "merchant.com.example.later").status == 0)
        installation.stop()

        let toSQLite = try copied(from: postgresql, to: sqlite)
        #expect(rowCount(toSQLite, "claims") == 2 && rowCount(toSQLite, "merchants") == 2)
        try installation.start(config: sqlite)
        try expectSameData(hash, claimed: token)
        #expect(try installation.ctl("merchant", "show", "merchant.com.example.later").status == 0)
        #expect(try installation.auditRecords("storeCopied").count == 2)
        #expect(try installation.diagnose().failures == [])
        installation.stop()
        // The next start records nothing about the copy.
        try installation.start(config: sqlite)
        #expect(try installation.auditRecords("storeCopied").count == 2)
    }

    @Test func `the database of a daemon that was killed is copied with its write-ahead log`() throws {
        try installation.start(config: sqlite)
        let hash = try postgres.onboard()
        let token = try postgres.token()
        #expect(try installation.ctl("token", "decrypt", token, "--claim").status == 0)
        installation.stop(SIGKILL)
        _ = try copied(from: sqlite, to: postgresql)
        try moveDatabaseAway(to: "before")
        try installation.start(config: postgresql)
        try expectSameData(hash, claimed: token)
    }

    @Test func `a copy is refused while a daemon runs, and for a target with content`() throws {
        try installation.start(config: sqlite)
        _ = try postgres.onboard()
        let running = try copy(from: sqlite, to: postgresql)
        #expect(running.status == 1 && running.refusalCode == "failed", "\(running.error)")
        installation.stop()
        let ontoItself = try copy(from: sqlite, to: sqlite)
        #expect(ontoItself.status == 1 && ontoItself.refusalCode == "failed", "\(ontoItself.error)")
        _ = try copied(from: sqlite, to: postgresql)
        let again = try copy(from: sqlite, to: postgresql)
        #expect(again.status == 1 && again.refusalCode == "storeUnavailable", "\(again.error)")
        let back = try copy(from: postgresql, to: sqlite)
        #expect(back.status == 1 && back.refusalCode == "failed", "the SQLite database is still there: \(back.error)")

        try moveDatabaseAway(to: "before")
        try installation.start(config: postgresql)
        let used = try copy(from: postgresql, to: sqlite)
        #expect(used.status == 1 && used.refusalCode == "storeUnavailable", "\(used.error)")
    }

    @Test func `a database that lost transactions is not copied`() throws {
        let database = try postgres.server.createDatabase()
        let config = try postgres.config(
            database, "state-directory: \(installation.stateDirectory)", named: "lossy.yaml")
        try installation.start(config: config)
        _ = try postgres.onboard()
        installation.stop()
        let older = try postgres.server.createDatabase(from: database)
        try installation.start(config: config)
        #expect(try installation.ctl("merchant", "add", "merchant.com.example.later").status == 0)
        installation.stop()
        try postgres.server.dropDatabase(database)
        try postgres.server.execute("ALTER DATABASE \(older) RENAME TO \(database)")
        let refused = try copy(from: config, to: sqlite)
        #expect(refused.status == 1 && refused.error.contains("[databaseLostTransactions]"), "\(refused.error)")
        #expect(!FileManager.default.fileExists(atPath: installation.database))
    }

    @Test func `a copy is refused without the master key of the source, and for another environment`() throws {
        try installation.start(config: sqlite)
        _ = try postgres.onboard()
        installation.stop()
        let database = try postgres.server.createDatabase()
        let elsewhere = try postgres.config(
            database, "state-directory: \(installation.path("elsewhere"))", named: "elsewhere.yaml")
        let missing = try copy(from: sqlite, to: elsewhere)
        #expect(missing.status == 1 && missing.refusalCode == "masterKeyConflict", "\(missing.error)")
        #expect(try postgres.server.execute("SELECT to_regnamespace('merchantkeyd') IS NULL", in: database) == "t")
        let production = try installation.write(
            """
            state-directory: \(installation.path("other"))
            store:
              kind: postgresql
              postgresql:
                connection: \(postgres.server.connection(to: database))
            """, "production.yaml")
        #expect(try copy(from: sqlite, to: production).status == 1)
        let named = try copy(
            from: sqlite, to: elsewhere, "--master-key-file", installation.path("state/master.key"))
        #expect(named.status == 0, "\(named.error)")
    }

    @Test func `a killed copy is completed when it is repeated, and a daemon then starts on its target`() throws {
        try installation.start(config: sqlite)
        let hash = try postgres.onboard()
        installation.stop()
        let copying = try installation.startCtl(["store", "copy", "--from", sqlite, "--to", postgresql])
        // At a random time: before, during or after the copy.
        Installation.waitRandomly(upTo: 0.5)
        copying.signal(SIGKILL)
        copying.wait()
        let outcome = try copy(from: sqlite, to: postgresql)
        #expect([0, 1].contains(outcome.status))
        // The first run may have finished the copy before it was killed.
        if outcome.status == 1 { #expect(outcome.refusalCode == "storeUnavailable", "\(outcome.error)") }
        try moveDatabaseAway(to: "before")
        try installation.start(config: postgresql)
        #expect(try postgres.resolve(hash) == "200")
    }
}
