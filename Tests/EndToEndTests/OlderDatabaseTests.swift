import Foundation
import MerchantTestSupport
import Testing

/// The start detects an older copy of the database and a lost write-ahead log. These are the cases that need real files, a real
/// kill or SQLite itself; `StartDecisionTests` has all of them as a table.
@Suite struct OlderDatabaseTests {
    let installation: Installation
    let config: String
    var head: String { installation.path("heads") }

    init() throws {
        installation = try Installation()
        config = try installation.write(
            "audit:\n  head:\n    file: \(installation.path("heads"))\n    every: 1s\n", "c.yaml")
    }

    /// Expects that the start is refused with this finding.
    private func refusedStart(_ code: String, _ arguments: [String] = []) throws {
        let outcome = try installation.failedStart(
            ["--state-directory", installation.path("state"), "--config", config] + arguments)
        #expect(outcome.status == 1 && outcome.error.contains("[\(code)]"), "\(outcome.error)")
    }

    /// Expects that `diagnose` reports this finding as a failure.
    private func diagnosed(_ code: String) throws {
        let outcome = try installation.ctl(
            "diagnose", "--output", "json", "--state-directory", installation.path("state"), "--config", config)
        let checks = try #require(try outcome.json()["checks"] as? [[String: String]])
        #expect(
            outcome.status == 1 && checks.contains { $0["code"] == code && $0["outcome"] == "failure" }, "\(checks)")
    }

    private func copy(_ from: String, _ to: String) throws {
        for suffix in ["", "-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: installation.path(to) + suffix)
            guard FileManager.default.fileExists(atPath: installation.path(from) + suffix) else { continue }
            try FileManager.default.copyItem(
                atPath: installation.path(from) + suffix, toPath: installation.path(to) + suffix)
        }
    }

    @Test func `an audit head from an event shows that an older copy was put back`() throws {
        let events = try installation.write("audit:\n  head:\n    event-every: 1s\n", "events.yaml")
        try installation.start(config: events)
        #expect(try installation.ctl("merchant", "add", "merchant.com.first").status == 0)
        installation.stop()
        try copy("state/merchantkeyd.sqlite", "old.sqlite")
        try installation.start(config: events)
        #expect(try installation.ctl("merchant", "add", "merchant.com.second").status == 0)
        var heads: [Substring] = []
        try installation.eventually("an event reports the head of the last change") {
            let head = try installation.ctlJSON("status")["auditHead"] as? [String: Any]
            let items = try installation.ctlJSON("event", "list", "--kind", "auditHead")["items"]
            heads = (items as? [[String: Any]] ?? []).compactMap {
                ($0["detail"] as? String)?.split(separator: " ").first
            }
            return heads.contains { $0.hasPrefix("\(head?["sequence"] ?? ""):") }
        }
        for head in heads { #expect(try installation.ctl("audit", "verify", "--head", String(head)).status == 0) }
        installation.stop()
        try copy("old.sqlite", "state/merchantkeyd.sqlite")
        try installation.start()
        let newest = try #require(
            heads.max { (Int($0.prefix { $0 != ":" }) ?? 0) < (Int($1.prefix { $0 != ":" }) ?? 0) })
        let verdict = try installation.ctl("audit", "verify", "--head", String(newest))
        #expect(verdict.status == 1 && !verdict.output.contains("whole"), "\(verdict.output)")
    }

    @Test func `an older copy that was put back is refused, and accepted only with the flag`() throws {
        try installation.start(config: config)
        #expect(try installation.ctl("merchant", "add", "merchant.com.first").status == 0)
        installation.stop()
        try copy("state/merchantkeyd.sqlite", "old.sqlite")
        try installation.start(config: config)
        #expect(try installation.ctl("merchant", "add", "merchant.com.second").status == 0)
        installation.stop()
        let lines = try String(contentsOfFile: head, encoding: .utf8).split(separator: "\n")
        #expect(lines.count >= 2 && lines.allSatisfy { $0.wholeMatch(of: /\S+Z \d+:[0-9a-f]{64}/) != nil }, "\(lines)")

        try copy("old.sqlite", "state/merchantkeyd.sqlite")
        try refusedStart("databaseOlderThanShippedHead")
        try diagnosed("databaseOlderThanShippedHead")
        try installation.start(config: config, ["--accept-older-database"])
        #expect(try installation.check().status == 1)
        let audit = try installation.ctl("audit", "list").output
        #expect(audit.contains("olderDatabaseAccepted"), "\(audit)")
        installation.stop()
        // Once accepted, it is the newest from then on.
        try installation.start(config: config)
        #expect(try installation.ctl("audit", "verify").status == 0)
        let shipped = try #require(try String(contentsOfFile: head, encoding: .utf8).split(separator: "\n").first)
        let kept = try #require(shipped.split(separator: " ").last)
        #expect(try installation.ctl("audit", "verify", "--head", String(kept)).status == 0)
        let forged = String(kept.dropLast()) + (kept.hasSuffix("0") ? "1" : "0")
        #expect(try installation.ctl("audit", "verify", "--head", forged).output.contains("rewritten"))
    }

    @Test func `a missing write-ahead log after a kill is refused`() throws {
        try installation.start()
        installation.stop()
        try installation.start()
        #expect(try installation.ctl("merchant", "add", "merchant.com.lost").status == 0)
        installation.stop(SIGKILL)
        try FileManager.default.removeItem(atPath: installation.path("state/merchantkeyd.sqlite-wal"))
        try refusedStart("logMissing")
        try installation.start(["--accept-older-database"])
        #expect(try installation.ctl("audit", "list").output.contains("olderDatabaseAccepted"))
        #expect(try installation.ctl("merchant", "show", "merchant.com.lost").status == 1)
        installation.stop()
        try installation.start()
    }

    @Test func `a log without its database is kept until the database is back`() throws {
        let (database, away) = (installation.path("state/merchantkeyd.sqlite"), installation.path("away.sqlite"))
        try installation.start()
        try installation.restart(SIGTERM)
        #expect(try installation.ctl("merchant", "add", "merchant.com.last").status == 0)
        installation.stop(SIGKILL)
        try FileManager.default.moveItem(atPath: database, toPath: away)
        for option in [[], ["--accept-older-database"]] {
            try refusedStart("logOfAnotherDatabase", option)
        }
        try FileManager.default.moveItem(atPath: away, toPath: database)
        try installation.start()
        #expect(try installation.ctl("merchant", "show", "merchant.com.last").status == 0)

        // Without database and log, only the flag starts the daemon with a new database.
        installation.stop(SIGKILL)
        for name in [database, database + "-wal"] { try FileManager.default.removeItem(atPath: name) }
        try refusedStart("databaseMissing")
        try diagnosed("databaseMissing")
        try installation.start(["--accept-older-database"])
        #expect(try installation.ctl("audit", "list").output.contains("olderDatabaseAccepted"))
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
        try installation.eventually("the daemon reports it") { installation.log.contains("was moved or replaced") }
        installation.stop(signal)

        try refusedStart("logOfAnotherDatabase")
        try diagnosed("logOfAnotherDatabase")
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
        try installation.eventually("the daemon reports it") { installation.log.contains("was moved or replaced") }
        installation.stop()
        try refusedStart("databaseMissing")
        for suffix in ["", "-wal"] {
            try FileManager.default.moveItem(atPath: away + suffix, toPath: database + suffix)
        }
        try installation.start()
        #expect(try installation.ctl("merchant", "show", "merchant.com.last").status == 0)
        #expect(try installation.ctl("audit", "verify").status == 0)
        try installation.restart(SIGTERM)
    }

    @Test func `a log that is removed while in use loses no acknowledged change`() throws {
        try installation.start()
        #expect(try installation.ctl("merchant", "add", "merchant.com.before").status == 0)
        try FileManager.default.removeItem(atPath: installation.path("state/merchantkeyd.sqlite-wal"))
        let refused = try installation.ctl("merchant", "add", "merchant.com.after")
        #expect(refused.status == 1 && refused.error.contains("-wal' was removed or replaced"), "\(refused.error)")
        _ = try installation.ctl("status")
        installation.stop()
        try installation.start()
        #expect(try installation.ctl("merchant", "show", "merchant.com.before").status == 0)
    }

    @Test func `a clean shutdown leaves no log, and a log that is put there later is refused`() throws {
        let log = installation.path("state/merchantkeyd.sqlite-wal")
        try installation.start()
        #expect(try installation.ctl("merchant", "add", "merchant.com.kept").status == 0)
        _ = try installation.ctl("merchant", "list")
        installation.stop(SIGKILL)
        try FileManager.default.moveItem(atPath: log, toPath: installation.path("old.log"))
        try installation.start(["--accept-older-database"])
        #expect(try installation.ctl("merchant", "add", "merchant.com.later").status == 0)
        _ = try installation.ctl("merchant", "list")
        installation.stop()
        #expect(!FileManager.default.fileExists(atPath: log))
        // The refusal before the flag was used said to put it back. Now it is too late.
        try FileManager.default.copyItem(atPath: installation.path("old.log"), toPath: log)
        for option in [[], ["--accept-older-database"]] {
            try refusedStart("logFromEarlierTime", option)
        }
        try FileManager.default.removeItem(atPath: log)
        try installation.start()
        #expect(try installation.ctl("merchant", "show", "merchant.com.later").status == 0)
        #expect(try installation.ctl("audit", "verify").status == 0)
    }

    @Test(arguments: ["a write-ahead log", "a newer database"])
    func `an accepted loss is kept until it is in the audit, even if the start fails`(lost: String) throws {
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
            #expect(try installation.ctl("merchant", "add", "merchant.com.lost").status == 0)
            installation.stop(SIGKILL)
            try FileManager.default.removeItem(atPath: database + "-wal")
            code = "lossNotRecorded"
        }
        let state = installation.path("state")
        let (key, kept) = ("\(state)/master.key", installation.path("kept.key"))
        try FileManager.default.moveItem(atPath: key, toPath: kept)
        try Data(repeating: 1, count: 32).write(to: URL(filePath: key))
        #expect(chmod(key, 0o600) == 0)
        for _ in 0..<2 {
            try refusedStart("masterKeyRejected", ["--accept-older-database"])
        }
        try FileManager.default.removeItem(atPath: key)
        try FileManager.default.moveItem(atPath: kept, toPath: key)

        // The failed starts created a log again: only their mark in the lock file shows the loss.
        try refusedStart(code)
        try diagnosed(code)
        try installation.start(config: config, ["--accept-older-database"])
        let audit = try installation.ctl("audit", "list").output
        #expect(audit.components(separatedBy: "olderDatabaseAccepted").count == 2, "\(audit)")
        try installation.restart()
        #expect(try !installation.ctl("audit", "list").output.contains("merchant.com.lost"))
    }

    @Test func `the head is sent to the local syslog daemon too`() throws {
        let socket = installation.path("log.sock")
        let listener = try ChildProcess([
            "python3", "-c",
            "import socket,sys; s=socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.bind(sys.argv[1]); open(sys.argv[2],'wb').write(s.recv(4096))",
            socket, installation.path("received"),
        ])
        try installation.eventually("the listener listens") { FileManager.default.fileExists(atPath: socket) }
        // A file that cannot be created does not delay the syslog daemon.
        let config = try installation.write(
            "audit:\n  head:\n    syslog: \(socket)\n    file: \(installation.path("nowhere/heads"))\n", "s.yaml")
        try installation.start(config: config)
        listener.wait()
        let received = try String(contentsOfFile: installation.path("received"), encoding: .utf8)
        #expect(received.wholeMatch(of: /<85>merchantkeyd\[\d+\]: audit head \d+:[0-9a-f]{64}/) != nil, "\(received)")
        try installation.eventually("the next head has no receiver") {
            _ = try installation.ctl("merchant", "add", "merchant.com.\(UUID().uuidString.prefix(8))")
            installation.stop()
            return installation.log.contains("could not be shipped")
        }
    }
}
