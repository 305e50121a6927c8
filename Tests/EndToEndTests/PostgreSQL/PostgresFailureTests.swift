import Foundation
import MerchantTestSupport
import Testing

/// A daemon on PostgreSQL whose start is refused, or whose server fails.
@Suite struct PostgresFailureTests {
    let postgres: PostgresInstallation

    init() throws { postgres = try PostgresInstallation() }

    private var installation: Installation { postgres.installation }

    private func failedStart(_ config: String, state: String = "state") throws -> Installation.Outcome {
        try installation.failedStart(["--config", config, "--state-directory", installation.path(state)])
    }

    @Test func `a database without its master key is refused, and no new key is created`() throws {
        let config = try postgres.config(postgres.server.createDatabase())
        try installation.start(config: config)
        installation.stop()
        let key = installation.path("state/master.key")
        try FileManager.default.moveItem(atPath: key, toPath: installation.path("kept.key"))
        try installation.expectRefusedStart("masterKeyMissing", ["--config", config])
        #expect(!FileManager.default.fileExists(atPath: key))
        let empty = try postgres.config(postgres.server.createDatabase(), named: "new.yaml")
        try installation.expectRefusedStart("databaseLostTransactions", ["--config", empty])
        try forgetDatabase()
        try installation.start(config: empty)
        installation.stop()
        try forgetDatabase()
        try installation.expectRefusedStart("masterKeyRejected", ["--config", config])
    }

    /// Removes the lock file, which contains the last audit record that the daemon has seen.
    private func forgetDatabase() throws {
        try FileManager.default.removeItem(atPath: installation.path("state/merchantkeyd.lock"))
    }

    @Test func `a wrong password is refused, and a new password takes effect without a restart`() throws {
        let database = try postgres.server.createDatabase()
        try postgres.server.execute("CREATE ROLE payments LOGIN PASSWORD 'correct-horse'")
        try postgres.server.execute("GRANT CREATE ON DATABASE \(database) TO payments")
        try requirePasswords()
        let password = try write(password: "first-guess")
        let config = try postgres.config(
            database, connection: "host=\(postgres.server.directory) user=payments dbname=\(database)",
            passwordFile: password)
        let outcome = try failedStart(config)
        #expect(outcome.status == 1 && outcome.error.contains("password authentication failed"), "\(outcome.error)")
        #expect(!outcome.error.contains("first-guess"), "\(outcome.error)")

        _ = try write(password: "correct-horse")
        try installation.start(config: config)
        _ = try postgres.onboard()
        try postgres.server.execute("ALTER ROLE payments PASSWORD 'battery-staple'")
        _ = try write(password: "battery-staple")
        try postgres.server.execute(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE usename = 'payments'")
        #expect(try installation.ctl("merchant", "add", "merchant.com.example.later").status == 0)
        for secret in ["correct-horse", "battery-staple"] { #expect(!installation.log.contains(secret)) }
    }

    /// - Returns: the path of the password file.
    private func write(password: String) throws -> String {
        let path = try installation.write(password + "\n", "password")
        chmod(path, 0o600)
        return path
    }

    /// Makes the server ask every role but its owner for a password.
    private func requirePasswords() throws {
        func loaded() throws -> String { try postgres.server.execute("SELECT pg_conf_load_time()") }
        let before = try loaded()
        let file = try postgres.server.execute("SHOW hba_file")
        try postgres.server.execute(
            "COPY (VALUES ('local all merchantkeyd trust'), ('local all all scram-sha-256')) TO '\(file)'")
        try postgres.server.execute("SELECT pg_reload_conf()")
        try installation.eventually("the server has read pg_hba.conf") { try loaded() != before }
    }

    @Test func `an unreachable server is refused`() throws {
        let outcome = try failedStart(
            try postgres.config("merchantkeyd", connection: "host=\(installation.path("nowhere")) user=merchantkeyd"))
        #expect(outcome.status == 1 && outcome.error.contains(installation.path("nowhere")), "\(outcome.error)")
        #expect(!FileManager.default.fileExists(atPath: installation.path("state/master.key")))
    }

    @Test func `the database of another program is refused and not changed`() throws {
        let database = try postgres.server.createDatabase()
        try postgres.server.execute("CREATE TABLE orders (id integer)", in: database)
        let outcome = try failedStart(try postgres.config(database))
        #expect(outcome.status == 1 && outcome.error.contains("public.orders"), "\(outcome.error)")
        #expect(try postgres.server.execute("SELECT to_regnamespace('merchantkeyd') IS NULL", in: database) == "t")
    }

    @Test func `while the server is down the daemon refuses changes, and recovers without a restart`() throws {
        let config = try postgres.config(postgres.server.createDatabase())
        try installation.start(config: config)
        let hash = try postgres.onboard()
        #expect(try postgres.resolve(hash) == "200")
        try postgres.server.crash()
        try installation.eventually("the daemon is not ready", within: .seconds(30)) {
            try installation.health().status == "503"
        }
        let refused = try installation.ctl("merchant", "add", "merchant.com.example.later")
        #expect(refused.status == 1 && refused.refusalCode == "storeUnavailable", "\(refused.error)")
        // Once the lease has ended, the daemon does not use the key in its memory.
        try installation.eventually("the key is not used", within: .seconds(30)) {
            try postgres.resolve(hash) == "503"
        }

        try postgres.server.start()
        try installation.eventually("the daemon is ready", within: .seconds(30)) {
            try installation.health().status == "200"
        }
        #expect(try installation.ctl("merchant", "add", "merchant.com.example.later").status == 0)
        #expect(try installation.ctl("token", "decrypt", postgres.token(), "--claim").status == 0)
        #expect(try postgres.resolve(hash) == "200")
        #expect(try installation.ctl("audit", "verify").status == 0)
    }

    @Test func `a daemon that finds its last transactions missing ends, and starts only with --accept-older-database`()
        throws
    {
        let database = try postgres.server.createDatabase()
        let config = try postgres.config(database)
        try installation.start(config: config)
        _ = try postgres.onboard()
        installation.stop()
        let older = try postgres.server.createDatabase(from: database)
        try installation.start(config: config)
        #expect(try installation.ctl("merchant", "add", "merchant.com.example.later").status == 0)
        // As after a failover to a standby that lags behind.
        try replace(database, by: older)
        try installation.eventually("the daemon has ended", within: .seconds(30)) { !installation.isRunning }
        #expect(installation.stop() == 1)
        try installation.expectRefusedStart("databaseLostTransactions", ["--config", config])
        try installation.start(config: config, ["--accept-older-database"])
        #expect(try installation.auditRecords("olderDatabaseAccepted").count == 1)
        #expect(
            try installation.ctl("merchant", "show", "merchant.com.example.later").refusalCode == "merchantNotFound")
        installation.stop()
        try installation.start(config: config)
        #expect(try installation.ctl("audit", "verify").status == 0)
    }

    /// Drops a database, and gives its name to the other.
    private func replace(_ database: String, by other: String) throws {
        try postgres.server.dropDatabase(database)
        try postgres.server.execute("ALTER DATABASE \(other) RENAME TO \(database)")
    }

    @Test func `with serve-stale a daemon uses known keys while the server is down, and reports it`() throws {
        let config = try postgres.config(postgres.server.createDatabase(), serveStale: "1h")
        try installation.start(config: config)
        let hash = try postgres.onboard()
        let unknown = try installation.certifiedKey(PostgresInstallation.merchant, "never-used")
        let token = try postgres.token()
        #expect(try postgres.resolve(hash) == "200")
        func decrypt(_ option: String = "--raw") throws -> Installation.Outcome {
            try installation.ctl("token", "decrypt", token, "--merchant", PostgresInstallation.merchant, option)
        }
        #expect(try decrypt().status == 0)
        try postgres.server.crash()
        try installation.eventually("the lease has ended", within: .seconds(30)) {
            let health = try installation.health()
            return health.status == "503" && health.findings.isSuperset(of: ["staleKeysUsed", "storeFailing"])
        }
        #expect(try postgres.resolve(hash) == "200")
        #expect(try decrypt().status == 0)
        #expect(try postgres.resolve(unknown) == "503")
        // A claim needs the database. So does a decryption for any merchant, because the audit records it.
        #expect(try decrypt("--claim").refusalCode == "storeUnavailable")
        #expect(try installation.ctl("token", "decrypt", token).refusalCode == "storeUnavailable")

        try postgres.server.start()
        try installation.eventually("the daemon is ready", within: .seconds(30)) {
            let health = try installation.health()
            return health.status == "200" && !health.findings.contains("staleKeysUsed")
        }
        #expect(try decrypt("--claim").status == 0)
    }
}
