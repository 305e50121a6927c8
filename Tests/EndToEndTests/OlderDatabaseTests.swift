import Foundation
import MerchantTestSupport
import Testing

/// An older copy of the database is put back, or what was written last is gone: said at the start, never passed over.
@Suite struct OlderDatabaseTests {
    let installation: Installation
    let config: String
    var head: String { installation.path("heads") }

    init() throws {
        installation = try Installation()
        config = try installation.write(
            "audit:\n  head:\n    file: \(installation.path("heads"))\n    every: 1s\n", "c.yaml")
    }

    private func refusedStart(_ words: String...) throws {
        let outcome = try installation.failedStart("--state-directory", installation.path("state"), "--config", config)
        #expect(outcome.status == 1, "\(outcome.error)")
        for word in words { #expect(outcome.error.contains(word), "\(outcome.error)") }
    }

    private func copy(_ from: String, _ to: String) throws {
        for suffix in ["", "-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: installation.path(to) + suffix)
            guard FileManager.default.fileExists(atPath: installation.path(from) + suffix) else { continue }
            try FileManager.default.copyItem(
                atPath: installation.path(from) + suffix, toPath: installation.path(to) + suffix)
        }
    }

    @Test func `a head that a webhook was told shows that an older copy was put back`() throws {
        let events = try installation.write("audit:\n  head:\n    event-every: 1s\n", "events.yaml")
        try installation.start(config: events)
        #expect(try installation.ctl("merchant", "add", "merchant.com.first").status == 0)
        installation.stop()
        try copy("state/merchantkeyd.sqlite", "old.sqlite")
        try installation.start(config: events)
        #expect(try installation.ctl("merchant", "add", "merchant.com.second").status == 0)
        var heads: [Substring] = []
        try installation.eventually("the head of the last change is told") {
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

    @Test(arguments: ["garbage\n", "<html>403</html>\n", "\n \n"])
    func `a file for heads that holds something else is refused, however short`(content: String) throws {
        try installation.start(config: config)
        installation.stop()
        try content.write(toFile: head, atomically: false, encoding: .utf8)
        try refusedStart("hold no head")
    }

    @Test func `heads that were written over do not let an older copy pass`() throws {
        try installation.start(config: config)
        #expect(try installation.ctl("merchant", "add", "merchant.com.first").status == 0)
        installation.stop()
        try copy("state/merchantkeyd.sqlite", "old.sqlite")
        try installation.start(config: config)
        #expect(try installation.ctl("merchant", "add", "merchant.com.second").status == 0)
        installation.stop()
        try copy("old.sqlite", "state/merchantkeyd.sqlite")
        func append(_ count: Int) throws {
            let file = try #require(FileHandle(forWritingAtPath: head))
            try file.seekToEnd()
            try file.write(contentsOf: Data(count: count))
            try file.close()
        }
        // As a crash may leave behind the last line.
        try append(4096)
        try refusedStart("older copy of the database was put back")
        try append(70_000)
        try refusedStart("hold no head")
    }

    @Test func `an older copy that was put back is refused, named, and taken only when asked to`() throws {
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
        try refusedStart("older copy of the database was put back", "--accept-older-database", head)
        let diagnosis = try installation.ctl(
            "diagnose", "--state-directory", installation.path("state"), "--config", config)
        #expect(diagnosis.status == 1 && diagnosis.output.contains("audit head"), "\(diagnosis.output)")
        try installation.start(config: config, ["--accept-older-database"])
        #expect(try installation.check().status == 1)
        let audit = try installation.ctl("audit", "list").output
        #expect(audit.contains("olderDatabaseAccepted"), "\(audit)")
        installation.stop()
        // It was taken once, and is the newest from then on.
        try installation.start(config: config)
        #expect(try installation.ctl("audit", "verify").status == 0)
        let shipped = try #require(try String(contentsOfFile: head, encoding: .utf8).split(separator: "\n").first)
        let kept = try #require(shipped.split(separator: " ").last)
        #expect(try installation.ctl("audit", "verify", "--head", String(kept)).status == 0)
        let forged = String(kept.dropLast()) + (kept.hasSuffix("0") ? "1" : "0")
        #expect(try installation.ctl("audit", "verify", "--head", forged).output.contains("rewritten"))
    }

    @Test func `a write-ahead log that is gone after a kill is refused`() throws {
        try installation.start()
        installation.stop()
        try installation.start()
        #expect(try installation.ctl("merchant", "add", "merchant.com.lost").status == 0)
        installation.stop(SIGKILL)
        try FileManager.default.removeItem(atPath: installation.path("state/merchantkeyd.sqlite-wal"))
        try refusedStart("write-ahead log", "put the file back", "--accept-older-database")
        try installation.start(["--accept-older-database"])
        #expect(try installation.ctl("audit", "list").output.contains("olderDatabaseAccepted"))
        #expect(try installation.ctl("merchant", "show", "merchant.com.lost").status == 1)
        installation.stop()
        try installation.start()
    }

    @Test func `a log without its database is not thrown away`() throws {
        let (database, away) = (installation.path("state/merchantkeyd.sqlite"), installation.path("away.sqlite"))
        try installation.start()
        try installation.restart(SIGTERM)
        #expect(try installation.ctl("merchant", "add", "merchant.com.last").status == 0)
        installation.stop(SIGKILL)
        try FileManager.default.moveItem(atPath: database, toPath: away)
        for option in [[], ["--accept-older-database"]] {
            let outcome = try installation.failedStart(["--state-directory", installation.path("state")] + option)
            #expect(outcome.status == 1 && outcome.error.contains("put that file back beside it"), "\(outcome.error)")
        }
        try FileManager.default.moveItem(atPath: away, toPath: database)
        try installation.start()
        #expect(try installation.ctl("merchant", "show", "merchant.com.last").status == 0)

        // Without a log there is nothing to save, but a database that was in use does not begin anew by itself.
        installation.stop(SIGKILL)
        for name in [database, database + "-wal"] { try FileManager.default.removeItem(atPath: name) }
        try refusedStart("is gone or empty, which a daemon had in use", "--accept-older-database")
    }

    @Test(arguments: [SIGTERM, SIGKILL])
    func `a log meets no other database than its own`(signal: Int32) throws {
        let (database, away) = (installation.path("state/merchantkeyd.sqlite"), installation.path("away.sqlite"))
        try installation.start()
        installation.stop()
        try copy("state/merchantkeyd.sqlite", "old.sqlite")
        try installation.start()
        for number in 0..<20 {
            #expect(try installation.ctl("merchant", "add", "merchant.com.\(number)").status == 0)
        }
        // Carries the log into the database: the old copy lacks pages that the next log refers to.
        try installation.restart(SIGTERM)
        #expect(try installation.ctl("merchant", "add", "merchant.com.last").status == 0)
        try FileManager.default.moveItem(atPath: database, toPath: away)
        try FileManager.default.moveItem(atPath: installation.path("old.sqlite"), toPath: database)
        #expect(try installation.ctl("merchant", "add", "merchant.com.refused").status == 1)
        try installation.eventually("it is told") { installation.log.contains("was moved or replaced") }
        installation.stop(signal)

        try refusedStart("belongs to another database", "put that file back beside it")
        let diagnosis = try installation.ctl("diagnose", "--state-directory", installation.path("state"))
        #expect(diagnosis.status == 1 && diagnosis.output.contains("another database"), "\(diagnosis.output)")
        try FileManager.default.removeItem(atPath: database)
        try FileManager.default.moveItem(atPath: away, toPath: database)
        try installation.start()
        #expect(try installation.ctl("merchant", "show", "merchant.com.last").status == 0)
        #expect(try installation.ctl("audit", "verify").status == 0)
        try installation.restart(SIGTERM)
    }

    @Test(arguments: [SIGTERM, SIGKILL])
    func `a database that was moved away with its log while in use is whole when both are back`(signal: Int32) throws {
        let (database, away) = (installation.path("state/merchantkeyd.sqlite"), installation.path("away.sqlite"))
        try installation.start()
        #expect(try installation.ctl("merchant", "add", "merchant.com.last").status == 0)
        for suffix in ["", "-wal"] {
            try FileManager.default.moveItem(atPath: database + suffix, toPath: away + suffix)
        }
        #expect(try installation.ctl("merchant", "add", "merchant.com.refused").status == 1)
        try installation.eventually("it is told") { installation.log.contains("was moved or replaced") }
        installation.stop(signal)
        try refusedStart("is gone or empty, which a daemon had in use")
        for suffix in ["", "-wal"] {
            try FileManager.default.moveItem(atPath: away + suffix, toPath: database + suffix)
        }
        try installation.start()
        #expect(try installation.ctl("merchant", "show", "merchant.com.last").status == 0)
        #expect(try installation.ctl("audit", "verify").status == 0)
        try installation.restart(SIGTERM)
    }

    @Test func `a log that is taken away while it is in use takes no acknowledged change with it`() throws {
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

    @Test func `a daemon that ended in order leaves no log, and one that is put there later is refused`() throws {
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
        // As the refusal before had said, but by now too late.
        try FileManager.default.copyItem(atPath: installation.path("old.log"), toPath: log)
        for option in [[], ["--accept-older-database"]] {
            let outcome = try installation.failedStart(["--state-directory", installation.path("state")] + option)
            #expect(outcome.status == 1 && outcome.error.contains("move it away"), "\(outcome.error)")
        }
        try FileManager.default.removeItem(atPath: log)
        try installation.start()
        #expect(try installation.ctl("merchant", "show", "merchant.com.later").status == 0)
        #expect(try installation.ctl("audit", "verify").status == 0)
    }

    @Test(arguments: [SIGTERM, SIGKILL])
    func `a database that is gone is refused, not made anew, where it left traces`(signal: Int32) throws {
        let database = installation.path("state/merchantkeyd.sqlite")
        try installation.start()
        #expect(try installation.ctl("merchant", "add", "merchant.com.kept").status == 0)
        installation.stop(signal)
        try FileManager.default.moveItem(atPath: database, toPath: database + ".away")
        let words = signal == SIGTERM ? "the file of claims" : "expected the file that it was written for"
        try refusedStart(words, "back", "--accept-older-database")
        let diagnosis = try installation.ctl("diagnose", "--state-directory", installation.path("state"))
        #expect(diagnosis.status == 1 && diagnosis.output.contains(words), "\(diagnosis.output)")
        try FileManager.default.moveItem(atPath: database + ".away", toPath: database)
        try installation.start()
        #expect(try installation.ctl("merchant", "show", "merchant.com.kept").status == 0)
        installation.stop()
        try FileManager.default.removeItem(atPath: database)
        try installation.start(["--accept-older-database"])
        #expect(try installation.ctl("audit", "list").output.contains("olderDatabaseAccepted"))
    }

    @Test(arguments: [SIGTERM, SIGKILL])
    func `an emptied database is refused as one that is gone, and its log is kept`(signal: Int32) throws {
        let database = installation.path("state/merchantkeyd.sqlite")
        try installation.start()
        try installation.restart(SIGTERM)
        #expect(try installation.ctl("merchant", "add", "merchant.com.kept").status == 0)
        installation.stop(signal)
        try FileManager.default.copyItem(atPath: database, toPath: database + ".away")
        try Data().write(to: URL(filePath: database))
        try refusedStart(signal == SIGTERM ? "is gone or empty" : "found an empty file", "--accept-older-database")
        try FileManager.default.removeItem(atPath: database)
        try FileManager.default.moveItem(atPath: database + ".away", toPath: database)
        try installation.start()
        #expect(try installation.ctl("merchant", "show", "merchant.com.kept").status == 0)
    }

    @Test(arguments: ["a write-ahead log", "a newer database"])
    func `what was accepted as lost stays so until it is on record, however the start ends`(lost: String) throws {
        try installation.start(config: config)
        let database = installation.path("state/merchantkeyd.sqlite")
        let finding: String
        if lost == "a newer database" {
            installation.stop()
            try copy("state/merchantkeyd.sqlite", "old.sqlite")
            try installation.start(config: config)
            #expect(try installation.ctl("merchant", "add", "merchant.com.lost").status == 0)
            installation.stop()
            try copy("old.sqlite", "state/merchantkeyd.sqlite")
            finding = "older copy of the database was put back"
        } else {
            #expect(try installation.ctl("merchant", "add", "merchant.com.lost").status == 0)
            installation.stop(SIGKILL)
            try FileManager.default.removeItem(atPath: database + "-wal")
            finding = "write-ahead log \(database)-wal is gone"
        }
        let state = installation.path("state")
        let (key, kept) = ("\(state)/master.key", installation.path("kept.key"))
        try FileManager.default.moveItem(atPath: key, toPath: kept)
        try Data(repeating: 1, count: 32).write(to: URL(filePath: key))
        #expect(chmod(key, 0o600) == 0)
        for _ in 0..<2 {
            let outcome = try installation.failedStart(
                "--state-directory", state, "--config", config, "--accept-older-database")
            #expect(outcome.status == 1 && outcome.error.contains("not the one this database"), "\(outcome.error)")
        }
        try FileManager.default.removeItem(atPath: key)
        try FileManager.default.moveItem(atPath: kept, toPath: key)

        // Without the mark that the first of them left, nothing would tell: there is a log again.
        try refusedStart(finding, "--accept-older-database")
        let diagnosis = try installation.ctl("diagnose", "--state-directory", state, "--config", config)
        let told = lost == "a write-ahead log" ? finding : "was shipped at"
        #expect(diagnosis.status == 1 && diagnosis.output.contains(told), "\(diagnosis.output)")
        try installation.start(config: config, ["--accept-older-database"])
        let audit = try installation.ctl("audit", "list").output
        #expect(audit.components(separatedBy: "olderDatabaseAccepted").count == 2, "\(audit)")
        #expect(audit.contains(finding), "\(audit)")
        try installation.restart()
        #expect(try !installation.ctl("audit", "list").output.contains("merchant.com.lost"))
    }

    @Test func `the head goes to the local syslog daemon too`() throws {
        let socket = installation.path("log.sock")
        let listener = Process()
        listener.executableURL = URL(filePath: "/usr/bin/env")
        listener.arguments = [
            "python3", "-c",
            "import socket,sys; s=socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.bind(sys.argv[1]); open(sys.argv[2],'wb').write(s.recv(4096))",
            socket, installation.path("told"),
        ]
        try listener.run()
        try installation.eventually("the listener listens") { FileManager.default.fileExists(atPath: socket) }
        // A file that can't be made holds up nothing.
        let config = try installation.write(
            "audit:\n  head:\n    syslog: \(socket)\n    file: \(installation.path("nowhere/heads"))\n", "s.yaml")
        try installation.start(config: config)
        listener.waitForExit()
        let told = try String(contentsOfFile: installation.path("told"), encoding: .utf8)
        #expect(told.wholeMatch(of: /<85>merchantkeyd\[\d+\]: audit head \d+:[0-9a-f]{64}/) != nil, "\(told)")
        try installation.eventually("the next head finds nobody") {
            _ = try installation.ctl("merchant", "add", "merchant.com.\(UUID().uuidString.prefix(8))")
            installation.stop()
            return installation.log.contains("could not be shipped")
        }
    }
}
