import Foundation
import Testing

/// Another program, such as SQLite's shell at three in the morning, opens the database: what is no loss is not taken for one.
@Suite(.enabled(if: (try? Installation.run(["python3", "-c", "import sqlite3"]).status) == 0, "needs python3"))
struct OpenedElsewhereTests {
    let installation: Installation
    var lock: String { installation.path("state/merchantkeyd.lock") }
    var database: String { installation.path("state/merchantkeyd.sqlite") }
    private var hasLog: Bool { FileManager.default.fileExists(atPath: database + "-wal") }

    init() throws { installation = try Installation() }

    /// A program that has the database open until ``close(_:)``.
    private func open(running statement: String) throws -> TestServer {
        let code = """
            import os, sqlite3, sys, time
            db = sqlite3.connect(sys.argv[1], isolation_level=None)
            db.execute(sys.argv[3]).fetchall()
            print("open", flush=True)
            while not os.path.exists(sys.argv[2]): time.sleep(0.02)
            db.close()
            """
        return try TestServer(
            ["python3", "-c", code, database, installation.path("close"), statement],
            output: installation.path("program.out"))
    }

    private func close(_ program: TestServer) throws {
        _ = try installation.write("", "close")
        program.waitForExit()
        try FileManager.default.removeItem(atPath: installation.path("close"))
    }

    private func startsWhole(with merchant: String, afterKill: Bool = false) throws {
        let diagnosis = try installation.ctl("diagnose", "--state-directory", installation.path("state"))
        #expect(!diagnosis.output.contains("is gone"), "\(diagnosis.output)")
        try installation.start()
        #expect(try installation.ctl("merchant", "show", merchant).status == 0)
        #expect(try installation.ctl("audit", "verify").status == 0)
        #expect(try !installation.ctl("audit", "list").output.contains("olderDatabaseAccepted"))
        #expect(afterKill || !installation.log.contains("did not end in order"), "\(installation.log)")
    }

    private func refusedStart(_ words: String...) throws {
        let outcome = try installation.failedStart(
            "--state-directory", installation.path("state"), "--accept-older-database")
        #expect(outcome.status == 1, "\(outcome.error)")
        for word in words { #expect(outcome.error.contains(word), "\(outcome.error)") }
    }

    @Test func `a program that carries the log over after a kill loses nothing, and the start knows`() throws {
        try installation.start()
        #expect(try installation.ctl("merchant", "add", "merchant.com.last").status == 0)
        installation.stop(SIGKILL)
        #expect(try installation.sql("SELECT count(*) FROM merchants") == "1")
        #expect(!hasLog)
        try startsWhole(with: "merchant.com.last")
    }

    @Test func `a program that ends after the daemon, and takes the log along, is no loss`() throws {
        try installation.start()
        let program = try open(running: "SELECT count(*) FROM merchants")
        #expect(try installation.ctl("merchant", "add", "merchant.com.last").status == 0)
        installation.stop()
        try close(program)
        #expect(!hasLog)
        // A restart of the machine in between leaves no doubt either.
        let boot = try String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8).prefix(36)
        #expect(try !String(contentsOfFile: lock, encoding: .utf8).contains(boot))
        try startsWhole(with: "merchant.com.last")
    }

    @Test func `the log of a program that has the database open is not taken for a foreign one`() throws {
        try installation.start()
        #expect(try installation.ctl("merchant", "add", "merchant.com.last").status == 0)
        installation.stop()
        let program = try open(running: "UPDATE merchants SET name = 'by hand'")
        #expect(hasLog)
        try startsWhole(with: "merchant.com.last")
        #expect(try installation.ctl("merchant", "show", "merchant.com.last").output.contains("by hand"))
        installation.stop()
        try close(program)
        try startsWhole(with: "merchant.com.last")
    }

    @Test(arguments: [
        "DROP TRIGGER audit_is_never_shortened; DELETE FROM audit WHERE sequence = (SELECT max(sequence) FROM audit)",
        "DROP TRIGGER audit_is_never_changed; UPDATE audit SET hash = zeroblob(32)",
        // As after a checkpoint that was cut short: some pages are the log's, others are older.
        "DROP TRIGGER merchants_are_kept; DELETE FROM merchants",
    ])
    func `a log that is gone is a loss where the audit's last record is not in a sound database`(script: String) throws
    {
        try installation.start()
        #expect(try installation.ctl("merchant", "add", "merchant.com.last").status == 0)
        let csr = installation.path("last.csr")
        #expect(try installation.ctl("key", "generate", "merchant.com.last", "--csr", csr).status == 0)
        installation.stop(SIGKILL)
        _ = try installation.sql(script)
        #expect(!hasLog)
        let outcome = try installation.failedStart("--state-directory", installation.path("state"))
        #expect(
            outcome.status == 1 && outcome.error.contains("sqlite-wal is gone: expected record"), "\(outcome.error)")
    }

    @Test func `after a restart of the machine a log that is gone may be a loss, and that is what is said`() throws {
        try installation.start()
        #expect(try installation.ctl("merchant", "add", "merchant.com.last").status == 0)
        installation.stop(SIGKILL)
        _ = try installation.sql("SELECT count(*) FROM merchants")
        let current = try String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8).prefix(36)
        let marks = try String(contentsOfFile: lock, encoding: .utf8)
        #expect(marks.contains(current), "\(marks)")
        let earlier = UUID().uuidString.lowercased()
        try Data(marks.replacingOccurrences(of: current, with: earlier).utf8).write(to: URL(filePath: lock))
        let outcome = try installation.failedStart("--state-directory", installation.path("state"))
        #expect(outcome.status == 1 && outcome.error.contains("the machine was restarted since"), "\(outcome.error)")
        try installation.start(["--accept-older-database"])
        #expect(try installation.ctl("merchant", "show", "merchant.com.last").status == 0)
    }

    @Test func `a log that is gone while its shared memory is not was carried over by nobody`() throws {
        try installation.start()
        #expect(try installation.ctl("merchant", "add", "merchant.com.last").status == 0)
        installation.stop(SIGKILL)
        _ = try installation.sql("SELECT count(*) FROM merchants")
        try Data().write(to: URL(filePath: database + "-shm"))
        let outcome = try installation.failedStart("--state-directory", installation.path("state"))
        #expect(
            outcome.status == 1 && outcome.error.contains("sqlite-wal is gone: expected record"), "\(outcome.error)")
    }

    @Test func `a log that was emptied is a loss where the audit's last record is not in the database`() throws {
        try installation.start()
        try installation.restart(SIGTERM)
        #expect(try installation.ctl("merchant", "add", "merchant.com.last").status == 0)
        installation.stop(SIGKILL)
        let kept = try Data(contentsOf: URL(filePath: database + "-wal"))
        try Data().write(to: URL(filePath: database + "-wal"))
        let outcome = try installation.failedStart("--state-directory", installation.path("state"))
        #expect(outcome.status == 1 && outcome.error.contains("sqlite-wal is empty: record"), "\(outcome.error)")
        try kept.write(to: URL(filePath: database + "-wal"))
        try startsWhole(with: "merchant.com.last", afterKill: true)
    }

    @Test func `a foreign log is refused also while a program has the database open beside it`() throws {
        try installation.start()
        #expect(try installation.ctl("merchant", "add", "merchant.com.first").status == 0)
        installation.stop(SIGKILL)
        let old = try Data(contentsOf: URL(filePath: database + "-wal"))
        try installation.start()
        #expect(try installation.ctl("merchant", "add", "merchant.com.last").status == 0)
        installation.stop()
        try old.write(to: URL(filePath: database + "-wal"))
        let program = try open(running: "SELECT count(*) FROM merchants")
        try refusedStart("was put beside the database")
        withExtendedLifetime(program) {}
    }

    /// As an engineer restores by hand after a crash, with the log of the newer database left beside it.
    @Test(arguments: ["moved into its place", "copied over it"])
    func `an older copy is not mixed with the log of the newer database`(how: String) throws {
        try installation.start()
        #expect(try installation.ctl("merchant", "add", "merchant.com.first").status == 0)
        installation.stop()
        let (old, new) = (installation.path("old.sqlite"), installation.path("new.sqlite"))
        try FileManager.default.copyItem(atPath: database, toPath: old)
        try installation.start()
        #expect(try installation.ctl("merchant", "add", "merchant.com.second").status == 0)
        try installation.restart(SIGTERM)
        #expect(try installation.ctl("merchant", "add", "merchant.com.last").status == 0)
        installation.stop(SIGKILL)
        try FileManager.default.copyItem(atPath: database, toPath: new)
        func put(_ path: String) throws {
            if how == "copied over it" {
                try Data(contentsOf: URL(filePath: path)).write(to: URL(filePath: database))
            } else {
                try FileManager.default.removeItem(atPath: database)
                try FileManager.default.copyItem(atPath: path, toPath: database)
            }
        }
        try put(old)
        try refusedStart("is older than its write-ahead log", "put that file back beside it")
        try put(new)
        try startsWhole(with: "merchant.com.last", afterKill: true)
    }

    @Test func `an older copy is told of, and on record, without a head that was shipped, too`() throws {
        try installation.start()
        installation.stop()
        try FileManager.default.copyItem(atPath: database, toPath: installation.path("old.sqlite"))
        try installation.start()
        #expect(try installation.ctl("merchant", "add", "merchant.com.last").status == 0)
        #expect(try !installation.ctl("status").output.contains("an older database was taken"))
        installation.stop()
        try FileManager.default.removeItem(atPath: database)
        try FileManager.default.moveItem(atPath: installation.path("old.sqlite"), toPath: database)
        try installation.start()
        #expect(installation.log.contains("not as the last daemon here left it (record "), "\(installation.log)")
        for signal in [SIGTERM, SIGKILL] {
            #expect(try installation.ctl("status").output.contains("an older database was taken"))
            let audit = try installation.ctl("audit", "list").output
            #expect(audit.components(separatedBy: "olderDatabaseAccepted").count == 2, "\(audit)")
            try installation.restart(signal)
        }
    }
}
