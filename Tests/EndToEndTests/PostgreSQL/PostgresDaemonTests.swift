import Foundation
import MerchantTestSupport
import Testing

/// A daemon on a real PostgreSQL server.
@Suite struct PostgresDaemonTests {
    let postgres: PostgresInstallation

    init() throws { postgres = try PostgresInstallation() }

    private var installation: Installation { postgres.installation }

    @Test func `keys, claims and the audit are in the database, and a restart continues with them`() throws {
        let config = try postgres.config(postgres.server.createDatabase())
        try installation.start(config: config)
        let hash = try postgres.onboard()
        let token = try postgres.token()
        #expect(try installation.ctl("token", "decrypt", token, "--claim").status == 0)
        for name in ["merchantkeyd.sqlite", "claims.sqlite", "merchantkeyd.reserve"] {
            #expect(!FileManager.default.fileExists(atPath: installation.path("state/\(name)")), "\(name)")
        }
        for signal in [SIGTERM, SIGKILL] {
            installation.stop(signal)
            try installation.start(config: config)
            #expect(try postgres.resolve(hash) == "200")
            #expect(try installation.ctl("token", "decrypt", token).status == 0)
            #expect(
                try installation.ctl("token", "decrypt", token, "--claim").refusalCode == "tokenAlreadyClaimed")
        }
        #expect(try installation.auditRecords("daemonStarted").count == 3)
        #expect(try installation.ctl("audit", "verify").status == 0)
        #expect(installation.stop() == 0)
    }

    @Test func `a roll replaces the key`() throws {
        try installation.start(config: postgres.config(postgres.server.createDatabase()))
        let first = try postgres.onboard()
        // The validity of the next certificate must begin in a later second.
        Installation.waitForNextSecond()
        let request = installation.path("second.csr")
        #expect(
            try installation.ctl("roll", "start", PostgresInstallation.merchant, "--csr", request).status == 0)
        try installation.apple(
            "issue", "--csr", request, "--merchant", PostgresInstallation.merchant, "--out",
            installation.path("second.cer"))
        #expect(try installation.ctl("certificate", "upload", installation.path("second.cer")).status == 0)
        #expect(try installation.ctl("token", "decrypt", postgres.token(for: "second")).status == 0)
        try installation.eventually("the roll is finished", within: .seconds(30)) {
            try installation.ctl("roll", "finish", PostgresInstallation.merchant, "--yes").status == 0
        }
        #expect(try installation.ctl("token", "decrypt", postgres.token(for: "first")).refusalCode == "keyRevoked")
        #expect(try installation.ctl("key", "destroy", first, "--after", "0s", "--yes").status == 0)
        #expect(try installation.ctl("token", "decrypt", postgres.token(for: "second")).status == 0)
    }

    @Test func `a rotation replaces the master key while the daemon serves`() throws {
        let config = try postgres.config(postgres.server.createDatabase())
        try installation.start(config: config)
        _ = try postgres.onboard()
        let before = try installation.ctlJSON("master-key", "status")["masterKeyIdentifier"] as? String
        #expect(try installation.ctl("master-key", "rotate", "--yes").status == 0)
        let after = try installation.ctlJSON("master-key", "status")
        #expect((after["rotation"] as? [String: Any])?["state"] as? String == "finished")
        #expect(after["masterKeyIdentifier"] as? String != before)
        installation.stop()
        try installation.start(config: config)
        #expect(try installation.ctl("token", "decrypt", postgres.token()).status == 0)
    }

    @Test func `a shipped audit head reveals an older copy of the database, which --accept-older-database accepts`()
        throws
    {
        let lines = "audit:\n  head:\n    file: \(installation.path("heads"))\n    every: 1s\n"
        let database = try postgres.server.createDatabase()
        let config = try postgres.config(database, lines)
        try installation.start(config: config)
        _ = try postgres.onboard()
        installation.stop()
        let copy = try postgres.server.createDatabase(from: database)
        try installation.start(config: config)
        #expect(try installation.ctl("merchant", "add", "merchant.com.example.later").status == 0)
        installation.stop()

        // Otherwise the lock file would also reveal the older copy.
        try FileManager.default.removeItem(atPath: installation.path("state/merchantkeyd.lock"))
        let older = try postgres.config(copy, lines, named: "older.yaml")
        try installation.expectRefusedStart("databaseOlderThanShippedHead", ["--config", older])
        try installation.start(config: older, ["--accept-older-database"])
        #expect(try installation.auditRecords("olderDatabaseAccepted").count == 1)
        installation.stop()
        try installation.start(config: older)
    }

    @Test func `events are delivered to a webhook`() throws {
        let webhook = try WebhookReceiver(for: installation)
        try installation.start(
            config: postgres.config(
                postgres.server.createDatabase(), "audit:\n  head:\n    event-every: 1s\n\(webhook.settings)\n"))
        try installation.eventually("the audit head is delivered", within: .seconds(30)) {
            try webhook.kinds().contains("auditHead")
        }
    }

    @Test func `diagnose is refused for a database on PostgreSQL`() throws {
        let config = try postgres.config(postgres.server.createDatabase())
        try installation.start(config: config)
        installation.stop()
        let outcome = try Installation.run([
            "\(Installation.programs)/merchantkeyctl", "--output", "json", "diagnose", "--config", config,
            "--state-directory", installation.stateDirectory,
        ])
        let checks = Installation.items(try outcome.json()["checks"])
        #expect(outcome.status == 1 && checks.map { $0["name"] as? String } == ["settings"], "\(outcome.output)")
    }

    @Test func `status has no finding about backups or storage, and the metrics include the store and the audit`()
        throws
    {
        try installation.start(config: postgres.config(postgres.server.createDatabase()))
        _ = try postgres.onboard()
        #expect(try installation.findings().isDisjoint(with: ["backupMissing", "storeFailing", "diskNearlyFull"]))
        let page = try installation.curlBody(installation.adminSocket, "/metrics").output
        #expect(page.contains(#"merchantkeyd_store_queue_length{database="merchants"} 0"#))
        #expect(page.contains(#"merchantkeyd_audited_actions_total{action="merchantAdded"} 1"#))
    }
}
