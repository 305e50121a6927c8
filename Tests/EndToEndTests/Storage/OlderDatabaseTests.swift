import Foundation
import MerchantTestSupport
import Testing

/// The start detects an older copy of the database and a lost write-ahead log. These are the cases that need real
/// files, a real kill or SQLite itself; `StartDecisionTests` tests all cases as a table.
@Suite(.onlyOnSQLite) struct OlderDatabaseTests {
    let installation: Installation
    let config: String
    var headFile: String { installation.path("heads") }

    init() throws {
        installation = try Installation()
        config = try installation.write(
            "audit:\n  head:\n    file: \(installation.path("heads"))\n    every: 1s\n", "c.yaml")
    }

    private func expectRefusedStart(_ code: String, _ arguments: [String] = []) throws {
        try installation.expectRefusedStart(code, ["--config", config] + arguments)
    }

    /// Expects that `diagnose` reports this start finding as a failure.
    private func expectDiagnosis(_ code: String) throws {
        let diagnosis = try installation.diagnose("--config", config)
        #expect(diagnosis.status == 1 && diagnosis.refusals.contains(code), "\(diagnosis)")
    }

    /// Adds a merchant and kills the daemon, so that the write-ahead log contains the change.
    ///
    /// After each start, the daemon empties the log once. If this removes the change from the log, the function
    /// changes the merchant again.
    private func addAndKill(_ merchant: String, config: String? = nil) throws {
        let log = URL(filePath: installation.path("state/merchantkeyd.sqlite-wal"))
        #expect(try installation.ctl("merchant", "add", merchant).status == 0)
        installation.stop(SIGKILL)
        for round in 0..<10 where try Data(contentsOf: log).isEmpty {
            try installation.start(config: config)
            #expect(try installation.ctl("merchant", "set", merchant, "--name", "round \(round)").status == 0)
            installation.stop(SIGKILL)
        }
    }

    private func copy(_ from: String, _ to: String) throws {
        for suffix in ["", "-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: installation.path(to) + suffix)
            guard FileManager.default.fileExists(atPath: installation.path(from) + suffix) else { continue }
            try FileManager.default.copyItem(
                atPath: installation.path(from) + suffix, toPath: installation.path(to) + suffix)
        }
    }

    @Test func `audit verify detects an older copy of the database by the audit head from an event`() throws {
        let events = try installation.write("audit:\n  head:\n    event-every: 1s\n", "events.yaml")
        try installation.start(config: events)
        #expect(try installation.ctl("merchant", "add", "merchant.com.first").status == 0)
        installation.stop()
        try copy("state/merchantkeyd.sqlite", "old.sqlite")
        try installation.start(config: events)
        #expect(try installation.ctl("merchant", "add", "merchant.com.second").status == 0)
        var heads: [Substring] = []
        try installation.eventually("an event reports the head of the last change") {
            let head = try installation.ctlJSON("status")["auditHead"] as? String
            let items = try installation.ctlJSON("event", "list", "--kind", "auditHead")["items"]
            heads = (items as? [[String: Any]] ?? []).compactMap {
                ($0["detail"] as? String)?.split(separator: " ").first
            }
            return heads.contains { String($0) == head }
        }
        for head in heads { #expect(try installation.ctl("audit", "verify", "--head", String(head)).status == 0) }
        installation.stop()
        try copy("old.sqlite", "state/merchantkeyd.sqlite")
        try installation.start()
        let newest = try #require(
            heads.max { (Int($0.prefix { $0 != ":" }) ?? 0) < (Int($1.prefix { $0 != ":" }) ?? 0) })
        let verification = try installation.ctl("--output", "json", "audit", "verify", "--head", String(newest))
        #expect(try verification.status == 1 && verification.json()["intact"] as? Bool == false)
    }

    @Test func `an older copy of the database is refused unless the start has the flag --accept-older-database`() throws
    {
        try installation.start(config: config)
        #expect(try installation.ctl("merchant", "add", "merchant.com.first").status == 0)
        installation.stop()
        try copy("state/merchantkeyd.sqlite", "old.sqlite")
        try installation.start(config: config)
        #expect(try installation.ctl("merchant", "add", "merchant.com.second").status == 0)
        installation.stop()
        let lines = try String(contentsOfFile: headFile, encoding: .utf8).split(separator: "\n")
        #expect(lines.count >= 2 && lines.allSatisfy { $0.wholeMatch(of: /\S+Z \d+:[0-9a-f]{64}/) != nil }, "\(lines)")

        try copy("old.sqlite", "state/merchantkeyd.sqlite")
        try expectRefusedStart("databaseOlderThanShippedHead")
        try expectDiagnosis("databaseOlderThanShippedHead")
        try installation.start(config: config, ["--accept-older-database"])
        #expect(try installation.checkStatus() == 1)
        #expect(try installation.auditRecords("olderDatabaseAccepted").count == 1)
        installation.stop()
        // The next start compares with the accepted database.
        try installation.start(config: config)
        #expect(try installation.ctl("audit", "verify").status == 0)
        let shipped = try #require(try String(contentsOfFile: headFile, encoding: .utf8).split(separator: "\n").first)
        let kept = try #require(shipped.split(separator: " ").last)
        #expect(try installation.ctl("audit", "verify", "--head", String(kept)).status == 0)
        let forged = String(kept.dropLast()) + (kept.hasSuffix("0") ? "1" : "0")
        let verification = try installation.ctl("--output", "json", "audit", "verify", "--head", forged).json()
        let breaks = try #require(verification["breaks"] as? [[String: Any]])
        #expect(breaks.contains { $0["kind"] as? String == "rewritten" }, "\(breaks)")
    }

    @Test func `diagnose and the start fail if the hash of a shipped head differs from that of the audit record`()
        throws
    {
        try installation.start(config: config)
        installation.stop()
        #expect(try installation.diagnose("--config", config).outcome("audit head") == "success")
        // As if another daemon had written its heads to the same file.
        let heads = try String(contentsOfFile: headFile, encoding: .utf8)
        let last = try #require(heads.split(separator: "\n").last)
        let record = try #require(last.firstMatch(of: /(\S+ \d+):/)).1
        try "\(heads)\(record):\(String(repeating: "0", count: 64))\n".write(
            toFile: headFile, atomically: false, encoding: .utf8)
        try expectDiagnosis("databaseOlderThanShippedHead")
        try expectRefusedStart("databaseOlderThanShippedHead")
    }

    @Test func `after a kill, the start is refused if the write-ahead log with the last changes is missing`() throws {
        try installation.start()
        installation.stop()
        try installation.start()
        try addAndKill("merchant.com.lost")
        try FileManager.default.removeItem(atPath: installation.path("state/merchantkeyd.sqlite-wal"))
        try expectRefusedStart("logMissing")
        try installation.start(["--accept-older-database"])
        #expect(try installation.auditRecords("olderDatabaseAccepted").count == 1)
        #expect(try installation.ctl("merchant", "show", "merchant.com.lost").status == 1)
        installation.stop()
        try installation.start()
    }

    @Test func `a log without its database is kept until the database is back`() throws {
        let (database, away) = (installation.path("state/merchantkeyd.sqlite"), installation.path("away.sqlite"))
        try installation.start()
        try installation.restart(SIGTERM)
        try addAndKill("merchant.com.last")
        try FileManager.default.moveItem(atPath: database, toPath: away)
        for option in [[], ["--accept-older-database"]] {
            try expectRefusedStart("logOfAnotherDatabase", option)
        }
        try FileManager.default.moveItem(atPath: away, toPath: database)
        try installation.start()
        #expect(try installation.ctl("merchant", "show", "merchant.com.last").status == 0)

        // Without database and log, only the flag starts the daemon with a new database.
        installation.stop(SIGKILL)
        for name in [database, database + "-wal"] { try FileManager.default.removeItem(atPath: name) }
        try expectRefusedStart("databaseMissing")
        try expectDiagnosis("databaseMissing")
        try installation.start(["--accept-older-database"])
        #expect(try installation.auditRecords("olderDatabaseAccepted").count == 1)
    }

    @Test func `the loss of the database together with the claims is detected by the lock file`() throws {
        try installation.start()
        installation.stop()
        for file in try FileManager.default.contentsOfDirectory(atPath: installation.stateDirectory)
        where file.contains(".sqlite") {
            try FileManager.default.removeItem(atPath: installation.path("state/\(file)"))
        }
        try expectRefusedStart("databaseMissing")
        try expectDiagnosis("databaseMissing")
        #expect(!FileManager.default.fileExists(atPath: installation.database))
        try installation.start(["--accept-older-database"])
        #expect(try installation.auditRecords("olderDatabaseAccepted").count == 1)
        try installation.restart(SIGTERM)
    }

    @Test(arguments: [SIGTERM, SIGKILL])
    func `a log is not applied to another database`(signal: Int32) throws {
        let (database, away) = (installation.path("state/merchantkeyd.sqlite"), installation.path("away.sqlite"))
        try installation.start()
        installation.stop()
        try copy("state/merchantkeyd.sqlite", "old.sqlite")
        try installation.start()
        for number in 0..<20 {
            #expect(try installation.ctl("merchant", "add", "merchant.com.\(number)").status == 0)
        }
        // Checkpoints the log: the old copy lacks pages that the next log refers to.
        try installation.restart(SIGTERM)
        #expect(try installation.ctl("merchant", "add", "merchant.com.last").status == 0)
        try FileManager.default.moveItem(atPath: database, toPath: away)
        try FileManager.default.moveItem(atPath: installation.path("old.sqlite"), toPath: database)
        #expect(try installation.ctl("merchant", "add", "merchant.com.refused").status == 1)
        try installation.eventually("the daemon logs the replaced file") { installation.log.contains("inode=") }
        installation.stop(signal)

        try expectRefusedStart("logOfAnotherDatabase")
        try expectDiagnosis("logOfAnotherDatabase")
        try FileManager.default.removeItem(atPath: database)
        try FileManager.default.moveItem(atPath: away, toPath: database)
        try installation.start()
        #expect(try installation.ctl("merchant", "show", "merchant.com.last").status == 0)
        #expect(try installation.ctl("audit", "verify").status == 0)
        try installation.restart(SIGTERM)
    }

    @Test func `a database that was moved away with its log while in use is complete when both are back`() throws {
        let (database, away) = (installation.path("state/merchantkeyd.sqlite"), installation.path("away.sqlite"))
        try installation.start()
        #expect(try installation.ctl("merchant", "add", "merchant.com.last").status == 0)
        for suffix in ["", "-wal"] {
            try FileManager.default.moveItem(atPath: database + suffix, toPath: away + suffix)
        }
        #expect(try installation.ctl("merchant", "add", "merchant.com.refused").status == 1)
        try installation.eventually("the daemon logs the replaced file") { installation.log.contains("inode=") }
        installation.stop()
        try expectRefusedStart("databaseMissing")
        for suffix in ["", "-wal"] {
            try FileManager.default.moveItem(atPath: away + suffix, toPath: database + suffix)
        }
        try installation.start()
        #expect(try installation.ctl("merchant", "show", "merchant.com.last").status == 0)
        #expect(try installation.ctl("audit", "verify").status == 0)
        try installation.restart(SIGTERM)
    }

    @Test func `the removal of a write-ahead log in use loses no acknowledged change`() throws {
        try installation.start()
        #expect(try installation.ctl("merchant", "add", "merchant.com.before").status == 0)
        try FileManager.default.removeItem(atPath: installation.path("state/merchantkeyd.sqlite-wal"))
        let refused = try installation.ctl("merchant", "add", "merchant.com.after")
        #expect(
            refused.refusalCode == "storeUnavailable" && refused.error.contains("merchantkeyd.sqlite-wal"),
            "\(refused.error)")
        _ = try installation.ctl("status")
        installation.stop()
        try installation.start()
        #expect(try installation.ctl("merchant", "show", "merchant.com.before").status == 0)
    }

    @Test func `a clean shutdown leaves no log, and a log that is put there later is refused`() throws {
        let log = installation.path("state/merchantkeyd.sqlite-wal")
        try installation.start()
        try addAndKill("merchant.com.kept")
        try FileManager.default.moveItem(atPath: log, toPath: installation.path("old.log"))
        try installation.start(["--accept-older-database"])
        #expect(try installation.ctl("merchant", "add", "merchant.com.later").status == 0)
        _ = try installation.ctl("merchant", "list")
        installation.stop()
        #expect(!FileManager.default.fileExists(atPath: log))
        // Before the start with the flag, the log could be put back. Now the log is from an earlier time.
        try FileManager.default.copyItem(atPath: installation.path("old.log"), toPath: log)
        for option in [[], ["--accept-older-database"]] {
            try expectRefusedStart("logFromEarlierTime", option)
        }
        try FileManager.default.removeItem(atPath: log)
        try installation.start()
        #expect(try installation.ctl("merchant", "show", "merchant.com.later").status == 0)
        #expect(try installation.ctl("audit", "verify").status == 0)
    }

    @Test(arguments: ["a write-ahead log", "a newer database"])
    func `if the start that accepts a loss fails, later starts are refused until the loss is in the audit`(
        lost: String
    ) throws {
        try installation.start(config: config)
        let database = installation.path("state/merchantkeyd.sqlite")
        let code: String
        if lost == "a newer database" {
            installation.stop()
            try copy("state/merchantkeyd.sqlite", "old.sqlite")
            try installation.start(config: config)
            #expect(try installation.ctl("merchant", "add", "merchant.com.lost").status == 0)
            installation.stop()
            try copy("old.sqlite", "state/merchantkeyd.sqlite")
            code = "databaseOlderThanShippedHead"
        } else {
            try addAndKill("merchant.com.lost", config: config)
            try FileManager.default.removeItem(atPath: database + "-wal")
            code = "lossNotRecorded"
        }
        let state = installation.path("state")
        let (key, kept) = ("\(state)/master.key", installation.path("kept.key"))
        try FileManager.default.moveItem(atPath: key, toPath: kept)
        try Data(repeating: 1, count: 32).write(to: URL(filePath: key))
        #expect(chmod(key, 0o600) == 0)
        for _ in 0..<2 {
            try expectRefusedStart("masterKeyRejected", ["--accept-older-database"])
        }
        try FileManager.default.removeItem(atPath: key)
        try FileManager.default.moveItem(atPath: kept, toPath: key)

        // In place of a lost log, the failed starts created another. Only their mark in the lock file shows the loss.
        try expectRefusedStart(code)
        try expectDiagnosis(code)
        try installation.start(config: config, ["--accept-older-database"])
        #expect(try installation.auditRecords("olderDatabaseAccepted").count == 1)
        try installation.restart()
        let added = try installation.auditRecords("merchantAdded").compactMap { $0["merchantIdentifier"] as? String }
        #expect(!added.contains("merchant.com.lost"))
    }

    @Test func `the audit head is sent to the local syslog daemon, also if its file cannot be written`() throws {
        let socket = installation.path("log.sock")
        let listener = try ChildProcess([
            "python3", "-c",
            "import socket,sys; s=socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.bind(sys.argv[1]); open(sys.argv[2],'wb').write(s.recv(4096))",
            socket, installation.path("received"),
        ])
        try installation.eventually("the listener listens") { FileManager.default.fileExists(atPath: socket) }
        // A file of heads that cannot be created does not delay the message to syslog.
        let config = try installation.write(
            "audit:\n  head:\n    syslog: \(socket)\n    file: \(installation.path("nowhere/heads"))\n", "s.yaml")
        try installation.start(config: config)
        listener.wait()
        let received = try String(contentsOfFile: installation.path("received"), encoding: .utf8)
        #expect(received.wholeMatch(of: /<85>merchantkeyd\[\d+\]: audit head \d+:[0-9a-f]{64}/) != nil, "\(received)")
        try installation.eventually("the failed shipment of the next head is logged") {
            _ = try installation.ctl("merchant", "add", "merchant.com.\(UUID().uuidString.prefix(8))")
            installation.stop()
            return installation.log.contains("level=error")
        }
    }
}
