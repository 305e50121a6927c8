import Foundation
import Testing

/// Somebody, or the disk, changed the database while no daemon ran.
@Suite(.enabled(if: (try? Installation.run(["python3", "-c", "import sqlite3"]).status) == 0, "needs python3"))
struct TamperedDatabaseTests {
    let installation: Installation
    /// Three merchants' active keys.
    let keys: [String]

    init() throws {
        installation = try Installation()
        try installation.start()
        try installation.apple("init")
        var keys: [String] = []
        for name in ["a", "b", "c"] {
            #expect(try installation.ctl("merchant", "add", "merchant.com.\(name)").status == 0)
            keys.append(try installation.certifiedKey("merchant.com.\(name)", name))
        }
        self.keys = keys
        installation.stop()
    }

    /// The refusal of a use on the decryptor's socket.
    private func problem(_ hash: String, _ rest: String, _ arguments: String...) throws -> String {
        try Installation.run(
            ["curl", "-s", "--unix-socket", installation.decryptorSocket] + arguments
                + ["http://localhost/v1/keys/\(pathSpelling(hash))\(rest)"]
        ).output
    }

    @Test func `a private key in another one's row opens for neither, and the others are answered`() throws {
        _ = try installation.sql(
            """
            CREATE TEMP TABLE t AS SELECT id, sealed_bytes b FROM sealed_private_keys WHERE id IN (1, 2);
            UPDATE sealed_private_keys SET sealed_bytes = (SELECT b FROM t WHERE t.id = 3 - sealed_private_keys.id)
            WHERE id IN (1, 2)
            """)
        try installation.start()
        for key in keys[..<2] {
            let answer = try problem(key, "/symmetric-key", "-d", Installation.ephemeral)
            #expect(answer.contains("keyDamaged") && answer.contains("belongs to another key"), "\(answer)")
        }
        #expect(try installation.uses(keys[2]) == ["200", "200"])
        // What was met stays told: the next to look is not the one whose payment failed.
        let check = try installation.check()
        #expect(check.status == 2, "\(check)")
        #expect(try installation.findings().contains("keyDamaged"))
        let health = try installation.health()
        #expect(health.status == "200" && health.body.contains("keyDamaged"), "\(health)")
        let backup = try installation.ctl("backup", "create", installation.path("b"))
        #expect(backup.status == 1 && backup.output.contains("its seal does not open"), "\(backup.output)")
        let coverage = try installation.ctlJSON("status")["backups"] as? [String: Any]
        #expect(coverage?["merchantsWithoutBackup"] as? Int == 3 && coverage?["lastVerified"] == nil)
    }

    @Test func `an altered certificate is not given out, nor its key used, and the others are answered`() throws {
        _ = try installation.sql(
            "UPDATE certificates SET der = CAST(substr(der, 1, 60) || x'00' || substr(der, 62) AS BLOB) WHERE id = 1")
        try installation.start()
        let answer = try problem(keys[0], "")
        #expect(answer.contains("keyDamaged"), "\(answer)")
        #expect(try installation.uses(keys[0]) == ["500", "500"])
        #expect(try installation.uses(keys[1]) == ["200", "200"])
        let backup = try installation.ctl("backup", "create", installation.path("b"))
        #expect(backup.status == 1 && backup.output.contains("altered"), "\(backup.output)")
    }

    /// Writes over the first page of a table or an index.
    private func damage(_ name: String) throws {
        let page = try #require(
            Int(try installation.sql("SELECT rootpage FROM sqlite_master WHERE name = '\(name)'")))
        _ = try installation.sql("PRAGMA wal_checkpoint(TRUNCATE)")
        let file = try FileHandle(forUpdating: URL(filePath: installation.path("state/merchantkeyd.sqlite")))
        try file.seek(toOffset: UInt64(page - 1) * 4096)
        try file.write(contentsOf: Data(repeating: 0xFF, count: 4096))
        try file.close()
    }

    @Test(arguments: ["events", "registrations", "certificates"])
    func `a table that cannot be read is damage too, found before anybody asks for it`(table: String) throws {
        try damage(table)
        try installation.start(answering: ["200", "503"])
        try installation.eventually("the damage is found") { try installation.health().status == "503" }
        let check = try installation.check()
        #expect(check.status == 2 && check.line.contains("damaged"), "\(check)")
        let refused = try installation.ctl("merchant", "add", "merchant.com.later")
        #expect(refused.status == 1 && refused.error.contains("damaged"), "\(refused.error)")
    }

    @Test func `a key pair's state that the audit does not tell of, and another public key, are found`() throws {
        try installation.start()
        #expect(try installation.ctl("key", "revoke", keys[0], "--reason", "compromised", "--yes").status == 0)
        installation.stop()
        _ = try installation.sql(
            """
            DROP TRIGGER key_pairs_keep_their_identity;
            UPDATE key_pairs SET state = 'standby', revocation_reason = NULL WHERE state = 'revoked';
            UPDATE key_pairs SET subject_public_key_info = (SELECT subject_public_key_info FROM key_pairs WHERE id = 2)
            WHERE id = 3
            """)
        let diagnosis = try installation.ctl("diagnose", "--state-directory", installation.path("state"))
        #expect(diagnosis.status == 1 && diagnosis.output.contains("revoked by its last audit record"), "\(diagnosis)")
        try installation.start()
        try installation.eventually("it is found") { try installation.check().status == 2 }
        let findings = try installation.ctl("status").output
        #expect(findings.contains("is standby in the database, revoked by its last audit record"), "\(findings)")
        #expect(findings.contains("is stored with the public key of"), "\(findings)")
        let backup = try installation.ctl("backup", "create", installation.path("b"))
        #expect(backup.status == 1 && backup.output.contains("revoked by its last audit record"), "\(backup.output)")
    }

    @Test(arguments: [("key_pairs", "id = 1"), ("merchants", "identifier = 'merchant.com.a'")])
    func `a row that was removed is missed by the audit that tells of it`(table: String, row: String) throws {
        let kept = try installation.sql("SELECT sql FROM sqlite_schema WHERE name = '\(table)_are_kept'")
        #expect(kept.contains("CREATE TRIGGER"))
        // With the trigger made anew, nothing of the schema tells.
        let code = """
            import sqlite3, sys
            db = sqlite3.connect(sys.argv[1])
            db.executescript(f"DROP TRIGGER {sys.argv[2]}_are_kept; DELETE FROM {sys.argv[2]} WHERE {sys.argv[3]};" + sys.argv[4])
            """
        let done = try Installation.run([
            "python3", "-c", code, installation.path("state/merchantkeyd.sqlite"), table, row, kept,
        ])
        #expect(done.status == 0, "\(done.error)")
        try installation.start(answering: ["200", "503"])
        try installation.eventually("it is found") {
            try installation.ctl("status").output.contains("the row was removed")
        }
        #expect(try installation.check().status == 2)
        #expect(try installation.ctl("backup", "create", installation.path("b")).status == 1)
    }

    @Test func `an index that is gone hides nothing`() throws {
        _ = try installation.sql(
            """
            CREATE TABLE of_a_replicator (x); DROP INDEX audit_of_key_pair; DROP TRIGGER audit_is_never_changed;
            UPDATE audit SET caller_uid = 4242 WHERE sequence = 4
            """)
        try installation.start()
        try installation.eventually("all of it is found") {
            let findings = try installation.ctl("status").output
            #expect(!findings.contains("of_a_replicator"))
            return ["index audit_of_key_pair is missing", "could not be checked", "record 4 is not what"]
                .allSatisfy(findings.contains)
        }
    }

    @Test func `a trigger that is gone, and a chain that does not hold, are told without being asked for`() throws {
        _ = try installation.sql(
            "DROP TRIGGER audit_is_never_changed; UPDATE audit SET caller_uid = 4242 WHERE sequence = 4")
        try installation.start()
        try installation.eventually("it is found") { try installation.ctl("status").output.contains("auditBroken") }
        let findings = try installation.ctl("status").output
        #expect(findings.contains("trigger audit_is_never_changed is missing"), "\(findings)")
        #expect(findings.contains("record 4 is not what"), "\(findings)")
        #expect(try installation.check().status == 2)
        #expect(try installation.uses(keys[0]) == ["200", "200"])
    }

    @Test func `a damaged page is found after the start, stops all writing, and keys are answered`() throws {
        try damage("audit_of_caller")
        let diagnosis = try installation.ctl("diagnose", "--state-directory", installation.path("state"))
        #expect(diagnosis.status == 1 && diagnosis.output.contains("restore a backup"), "\(diagnosis.output)")

        try installation.start(answering: ["200", "503"])
        try installation.eventually("the damage is found") { try installation.check().status == 2 }
        let health = try installation.health()
        #expect(
            health.status == "503" && health.body.contains("restore a backup where the file is damaged"), "\(health)")
        let refused = try installation.ctl("key", "generate", "merchant.com.a")
        #expect(refused.status == 1 && refused.error.contains("damaged"), "\(refused.error)")
        for key in keys { #expect(try installation.uses(key) == ["200", "200"]) }
        #expect(try installation.ctl("backup", "create", installation.path("b")).status == 1)
    }

    @Test func `an edited audit record is found through the daemon, by its number`() throws {
        _ = try installation.sql(
            "DROP TRIGGER audit_is_never_changed; UPDATE audit SET caller_uid = 4242 WHERE sequence = 4")
        try installation.start()
        let outcome = try installation.ctl("audit", "verify")
        #expect(outcome.status == 1 && outcome.output.contains("edited"), "\(outcome.output)")
        #expect(outcome.output.contains("record 4 is not what"), "\(outcome.output)")
    }
}
