import Foundation
import Testing

/// Another program, such as SQLite's shell, opens the database. The daemon's start distinguishes a checkpoint by this
/// program from a loss of changes.
@Suite(.onlyOnSQLite, .enabled(if: Installation.hasPythonSQLite, "python3 is not installed"))
struct OpenedElsewhereTests {
    let installation: Installation
    private var lock: String { installation.path("state/merchantkeyd.lock") }
    private var database: String { installation.database }
    private var hasLog: Bool { FileManager.default.fileExists(atPath: database + "-wal") }

    init() throws { installation = try Installation() }

    /// Starts a program that has the database open until ``close(_:)``.
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

    /// Expects that the daemon starts with this merchant and reports no loss.
    ///
    /// - Parameter allowsMissingClaimsLog: whether the start may report that the log of the claims is missing.
    private func expectCompleteStart(with merchant: String, allowsMissingClaimsLog: Bool = false) throws {
        let diagnosis = try installation.diagnose()
        #expect(diagnosis.status == 0, "\(diagnosis)")
        try installation.start()
        #expect(try installation.ctl("merchant", "show", merchant).status == 0)
        #expect(try installation.ctl("audit", "verify").status == 0)
        #expect(try installation.auditRecords("olderDatabaseAccepted").isEmpty)
        #expect(allowsMissingClaimsLog || !installation.log.contains("claimsLogMissing"), "\(installation.log)")
    }

    @Test func `a program that checkpoints the log after a kill loses nothing`() throws {
        try installation.start()
        #expect(try installation.ctl("merchant", "add", "merchant.com.last").status == 0)
        installation.stop(SIGKILL)
        #expect(try installation.sql("SELECT count(*) FROM merchants") == "1")
        #expect(!hasLog)
        try expectCompleteStart(with: "merchant.com.last")
    }

    @Test func `a program that closes the database after the daemon and removes the log loses nothing`() throws {
        try installation.start()
        let program = try open(running: "SELECT count(*) FROM merchants")
        #expect(try installation.ctl("merchant", "add", "merchant.com.last").status == 0)
        installation.stop()
        try close(program)
        #expect(!hasLog)
        // The lock file does not name this boot, so a reboot before the next start changes nothing.
        let boot = try String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8).prefix(36)
        #expect(try !String(contentsOfFile: lock, encoding: .utf8).contains(boot))
        try expectCompleteStart(with: "merchant.com.last")
    }

    @Test func `the log of a program that has the database open is accepted`() throws {
        try installation.start()
        #expect(try installation.ctl("merchant", "add", "merchant.com.last").status == 0)
        installation.stop()
        let program = try open(running: "UPDATE merchants SET name = 'by hand'")
        #expect(hasLog)
        try expectCompleteStart(with: "merchant.com.last")
        #expect(try installation.ctlJSON("merchant", "show", "merchant.com.last")["name"] as? String == "by hand")
        installation.stop()
        try close(program)
        try expectCompleteStart(with: "merchant.com.last")
    }

    @Test(arguments: [
        "DROP TRIGGER audit_is_never_shortened; DELETE FROM audit WHERE sequence = (SELECT max(sequence) FROM audit)",
        "DROP TRIGGER audit_is_never_changed; UPDATE audit SET hash = zeroblob(32)",
        // As after an interrupted checkpoint: some pages are from the log, others are older.
        "DROP TRIGGER merchants_are_kept; DELETE FROM merchants",
    ])
    func `a missing log counts as a loss unless the database is intact and has the last audit record`(
        script: String
    ) throws {
        try installation.start()
        #expect(try installation.ctl("merchant", "add", "merchant.com.last").status == 0)
        let csr = installation.path("last.csr")
        #expect(try installation.ctl("key", "generate", "merchant.com.last", "--csr", csr).status == 0)
        installation.stop(SIGKILL)
        _ = try installation.sql(script)
        #expect(!hasLog)
        try installation.expectRefusedStart("logMissing")
    }

    @Test func `an emptied log counts as a loss if the last audit record is not in the database`() throws {
        try installation.start()
        try installation.restart(SIGTERM)
        #expect(try installation.ctl("merchant", "add", "merchant.com.last").status == 0)
        installation.stop(SIGKILL)
        let kept = try Data(contentsOf: URL(filePath: database + "-wal"))
        try Data().write(to: URL(filePath: database + "-wal"))
        try installation.expectRefusedStart("logEmptied")
        try kept.write(to: URL(filePath: database + "-wal"))
        try expectCompleteStart(with: "merchant.com.last", allowsMissingClaimsLog: true)
    }

    @Test func `an old log is refused also while a program has the database open`() throws {
        try installation.start()
        #expect(try installation.ctl("merchant", "add", "merchant.com.first").status == 0)
        installation.stop(SIGKILL)
        let old = try Data(contentsOf: URL(filePath: database + "-wal"))
        try installation.start()
        #expect(try installation.ctl("merchant", "add", "merchant.com.last").status == 0)
        installation.stop()
        try old.write(to: URL(filePath: database + "-wal"))
        let program = try open(running: "SELECT count(*) FROM merchants")
        try installation.expectRefusedStart("logFromEarlierTime", ["--accept-older-database"])
        withExtendedLifetime(program) {}
    }

    /// Simulates a manual restore that leaves the log of the newer database in place.
    @Test(arguments: ["moved", "copied"])
    func `an older copy is refused beside the log of the newer database`(how: String) throws {
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
        func replaceDatabase(_ path: String) throws {
            if how == "copied" {
                try Data(contentsOf: URL(filePath: path)).write(to: URL(filePath: database))
            } else {
                try FileManager.default.removeItem(atPath: database)
                try FileManager.default.copyItem(atPath: path, toPath: database)
            }
        }
        try replaceDatabase(old)
        try installation.expectRefusedStart("databaseOlderThanLog", ["--accept-older-database"])
        try replaceDatabase(new)
        try expectCompleteStart(with: "merchant.com.last", allowsMissingClaimsLog: true)
    }

    @Test func `without a shipped head an older copy is reported and audited`() throws {
        try installation.start()
        installation.stop()
        try FileManager.default.copyItem(atPath: database, toPath: installation.path("old.sqlite"))
        try installation.start()
        #expect(try installation.ctl("merchant", "add", "merchant.com.last").status == 0)
        #expect(try !installation.findings().contains("databaseRestored"))
        installation.stop()
        try FileManager.default.removeItem(atPath: database)
        try FileManager.default.moveItem(atPath: installation.path("old.sqlite"), toPath: database)
        try installation.start()
        #expect(installation.log.contains("finding=databaseOlderThanLockFile"), "\(installation.log)")
        for signal in [SIGTERM, SIGKILL] {
            #expect(try installation.findings().contains("databaseRestored"))
            #expect(try installation.auditRecords("olderDatabaseAccepted").count == 1)
            try installation.restart(signal)
        }
    }
}
