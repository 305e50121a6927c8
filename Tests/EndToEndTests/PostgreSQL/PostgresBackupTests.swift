import Foundation
import MerchantTestSupport
import Testing

/// Backups of daemons on PostgreSQL, and their restores, with the real programs.
@Suite struct PostgresBackupTests {
    let postgres: PostgresInstallation

    private var installation: Installation { postgres.installation }

    init() throws { postgres = try PostgresInstallation() }

    private func restore(_ file: String, config: String, _ arguments: String...) throws -> Installation.Outcome {
        try Installation.run(
            ["\(Installation.programs)/merchantkeyctl", "--output", "json", "backup", "restore", file]
                + ["--config", config, "--state-directory", installation.stateDirectory] + arguments)
    }

    private func createBackup(_ name: String = "a.backup") throws -> String {
        let file = installation.path(name)
        let outcome = try installation.ctl("backup", "create", file)
        #expect(outcome.status == 0, "\(outcome.error)")
        return file
    }

    /// Makes the database look as if its restore had been killed before its end.
    ///
    /// - Parameter schema: the schema with the data from before the restore.
    private func markUnfinished(_ database: String, kept schema: String) throws {
        try postgres.server.execute(
            """
            CREATE TABLE merchantkeyd.unfinished_copy
                (id smallint PRIMARY KEY, audit_sequence bigint, audit_hash bytea, kept_schema text);
            INSERT INTO merchantkeyd.unfinished_copy VALUES (1, 0, '', '\(schema)')
            """, in: database)
    }

    private func rowCount(_ table: String, in database: String) throws -> Int? {
        Int(try postgres.server.execute("SELECT count(*) FROM \(table)", in: database))
    }

    @Test func `a backup is restored to another PostgreSQL database, and to SQLite`() throws {
        try installation.start(config: postgres.config(postgres.server.createDatabase()))
        let hash = try postgres.onboard()
        let backup = try createBackup()
        installation.stop()

        let database = try postgres.server.createDatabase()
        let other = try postgres.config(database, named: "other.yaml")
        let restored = try restore(backup, config: other)
        #expect(restored.status == 0, "\(restored.error)")
        #expect(try restored.json()["aside"] == nil)
        try installation.start(config: other)
        #expect(try postgres.resolve(hash) == "200")
        #expect(try installation.ctl("token", "decrypt", postgres.token(), "--claim").status == 0)
        #expect(try installation.ctl("audit", "verify").status == 0)
        #expect(try installation.auditRecords("databaseRestored").count == 1)
        #expect(try installation.findings().contains("databaseRestored"))
        installation.stop()

        let sqlite = try Installation()
        try sqlite.createStateDirectory()
        try FileManager.default.copyItem(
            atPath: installation.path("state/master.key"), toPath: sqlite.path("state/master.key"))
        let config = try sqlite.write("environment: sandbox\n", "sqlite.yaml")
        let toSQLite = try Installation.run([
            "\(Installation.programs)/merchantkeyctl", "backup", "restore", backup, "--config", config,
            "--state-directory", sqlite.stateDirectory,
        ])
        #expect(toSQLite.status == 0, "\(toSQLite.error)")
        try sqlite.start(config: config)
        #expect(try sqlite.uses(hash).first == "200")
        #expect(try sqlite.ctl("audit", "verify").status == 0)
        #expect(try sqlite.diagnose().failures == [])
    }

    @Test func `a backup of SQLite is restored to PostgreSQL`() throws {
        let config = try installation.write(
            "environment: sandbox\ntrust:\n  token-roots: [\(installation.path("apple/root.pem"))]\n", "sqlite.yaml")
        let sqlite = try Installation()
        try sqlite.start(config: config)
        #expect(try sqlite.ctl("merchant", "add", PostgresInstallation.merchant).status == 0)
        let backup = installation.path("a.backup")
        #expect(try sqlite.ctl("backup", "create", backup).status == 0)
        sqlite.stop()
        try installation.createStateDirectory()
        try FileManager.default.copyItem(
            atPath: sqlite.path("state/master.key"), toPath: installation.path("state/master.key"))
        let postgresql = try postgres.config(postgres.server.createDatabase())
        let restored = try restore(backup, config: postgresql)
        #expect(restored.status == 0, "\(restored.error)")
        try installation.start(config: postgresql)
        #expect(try installation.ctl("merchant", "show", PostgresInstallation.merchant).status == 0)
        _ = try installation.certifiedKey(PostgresInstallation.merchant, "later")
        #expect(try installation.ctl("audit", "verify").status == 0)
    }

    @Test func `a restore replaces data only with --replace, keeps the old data in a schema, and keeps the claims`()
        throws
    {
        let database = try postgres.server.createDatabase()
        let config = try postgres.config(database)
        try installation.start(config: config)
        let hash = try postgres.onboard()
        let backup = try createBackup()
        let later = "merchant.com.example.later"
        #expect(try installation.ctl("merchant", "add", later).status == 0)
        let token = try postgres.token()
        #expect(try installation.ctl("token", "decrypt", token, "--claim").status == 0)

        let running = try restore(backup, config: config, "--replace")
        #expect(running.status == 1 && running.refusalCode == "failed", "\(running.error)")
        installation.stop()
        let refused = try restore(backup, config: config)
        #expect(refused.status == 1 && refused.error.contains("--replace"), "\(refused.error)")
        #expect(try rowCount("merchantkeyd.merchants", in: database) == 2)

        let restored = try restore(backup, config: config, "--replace")
        try #require(restored.status == 0, "\(restored.error)")
        let schema = try restored.text("aside")
        #expect(try rowCount("\(schema).merchants", in: database) == 2)
        let undone = try #require(try restored.json()["undone"] as? [String: Any])
        #expect(undone["merchantsCount"] as? Int == 1, "\(undone)")
        #expect(undone["firstMissingAuditRecord"] != nil)

        try installation.start(config: config)
        #expect(try postgres.resolve(hash) == "200")
        #expect(try installation.ctl("merchant", "show", later).refusalCode == "merchantNotFound")
        #expect(try installation.ctl("token", "decrypt", token, "--claim").refusalCode == "tokenAlreadyClaimed")
        #expect(try installation.ctl("token", "decrypt", postgres.token(), "--claim").status == 0)
        #expect(try installation.ctl("audit", "verify").status == 0)
        installation.stop()
        // The restore has no effect on later starts.
        try installation.start(config: config)
        #expect(try installation.auditRecords("databaseRestored").count == 1)
    }

    @Test func `a restore with a wrong master key or of a damaged backup changes nothing`() throws {
        let database = try postgres.server.createDatabase()
        let config = try postgres.config(database)
        try installation.start(config: config)
        let hash = try postgres.onboard()
        let backup = try createBackup()
        installation.stop()
        let wrong = installation.path("wrong.key")
        #expect(
            FileManager.default.createFile(
                atPath: wrong, contents: Data(repeating: 7, count: 32), attributes: [.posixPermissions: 0o600]))
        var damaged = try Data(contentsOf: URL(filePath: backup))
        damaged[damaged.count / 2] ^= 1
        try damaged.write(to: URL(filePath: installation.path("damaged")))
        for (outcome, code) in [
            (try restore(backup, config: config, "--replace", "--master-key-file", wrong), "backupFailed"),
            (try restore(installation.path("damaged"), config: config, "--replace"), "backupFailed"),
            (try restore(installation.path("nowhere"), config: config, "--replace"), "backupFailed"),
        ] { #expect(outcome.status == 1 && outcome.refusalCode == code, "\(outcome.error)") }
        try installation.start(config: config)
        #expect(try postgres.resolve(hash) == "200")
        #expect(try installation.auditRecords("databaseRestored").isEmpty)
    }

    @Test func `after a killed restore no daemon starts, and a repeated restore keeps the claims and the old data`()
        throws
    {
        let database = try postgres.server.createDatabase()
        let config = try postgres.config(database)
        try installation.start(config: config)
        let hash = try postgres.onboard()
        let backup = try createBackup()
        let token = try postgres.token()
        #expect(try installation.ctl("token", "decrypt", token, "--claim").status == 0)
        installation.stop()
        let schema = try restore(backup, config: config, "--replace").text("aside")
        try markUnfinished(database, kept: schema)
        try postgres.server.execute("DELETE FROM merchantkeyd.claims", in: database)
        let start = try installation.failedStart(["--config", config, "--state-directory", installation.stateDirectory])
        #expect(start.status == 1 && start.error.contains(schema), "\(start.error)")
        let again = try restore(backup, config: config)
        #expect(again.status == 0, "\(again.error)")
        #expect(try again.text("aside") == schema)
        try installation.start(config: config)
        #expect(try postgres.resolve(hash) == "200")
        #expect(try installation.ctl("token", "decrypt", token, "--claim").refusalCode == "tokenAlreadyClaimed")
    }

    @Test func `after a repeated restore by a superuser, the daemon's role can still use the data`() throws {
        let database = try postgres.server.createDatabase()
        try postgres.server.execute("CREATE ROLE owner LOGIN; ALTER DATABASE \(database) OWNER TO owner")
        let superuser = try postgres.config(database, named: "superuser.yaml")
        let daemon = try postgres.config(
            database, connection: "host=\(postgres.server.directory) user=owner dbname=\(database)")
        try installation.start(config: daemon)
        let hash = try postgres.onboard()
        let backup = try createBackup()
        installation.stop()
        let schema = try restore(backup, config: superuser, "--replace").text("aside")
        try markUnfinished(database, kept: schema)
        #expect(try restore(backup, config: superuser).status == 0)
        try installation.start(config: daemon)
        #expect(try postgres.resolve(hash) == "200")
    }

    @Test func `the changes that a restore undid stay known after another daemon accepts the database`() throws {
        let second = try Installation()
        let database = try postgres.start(with: ["two": second])
        _ = try postgres.onboard()
        let backup = try createBackup()
        #expect(try installation.ctl("merchant", "add", "merchant.com.example.later").status == 0)
        let head = try postgres.server.execute("SELECT sequence FROM merchantkeyd.audit_head", in: database)
        try second.eventually("the second daemon has seen the last audit record") {
            try String(contentsOfFile: second.path("state/merchantkeyd.lock"), encoding: .utf8).contains("head \(head)")
        }
        for node in [installation, second] { node.stop() }
        let config = installation.path("one.yaml")
        #expect(try restore(backup, config: config, "--replace").status == 0)
        try installation.start(config: config)
        func undone() throws -> String {
            try postgres.server.execute(
                "SELECT value FROM merchantkeyd.daemon_values WHERE name = 'restoreUndid'", in: database)
        }
        let before = try undone()
        #expect(before.contains("merchant.com.example.later"))
        let other = ["--config", installation.path("two.yaml")]
        try second.expectRefusedStart("databaseLostTransactions", other)
        try second.start(config: installation.path("two.yaml"), ["--accept-older-database"])
        try second.eventually("the acceptance is recorded") {
            try installation.auditRecords("olderDatabaseAccepted").count == 1
        }
        #expect(try undone() == before)
    }

    @Test func `of several daemons, the leader creates the scheduled backups`() throws {
        let other = try Installation()
        let directory = installation.path("backups")
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        try postgres.start(with: ["two": other], "backup:\n  directory: \(directory)\n  every: 1s\n  keep: 2\n")
        func backups() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: directory).filter { $0.hasSuffix(".backup") }
        }
        var seen: Set<String> = []
        func waitForBackups(_ count: Int) throws {
            try installation.eventually("\(count) backups", within: .seconds(60)) {
                seen.formUnion(try backups())
                return seen.count >= count
            }
        }
        try waitForBackups(2)
        #expect(try installation.auditRecords("backupCreated").count >= 2)
        let formerLeader = installation.path("state")
        installation.stop(SIGKILL)
        // The other daemon becomes the leader.
        try waitForBackups(seen.count + 2)
        #expect(try other.findings().isDisjoint(with: ["backupFailed", "backupOverdue"]), "after \(formerLeader)")
    }
}
