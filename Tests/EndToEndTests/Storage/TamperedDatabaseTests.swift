import Foundation
import Testing

/// The database was altered or damaged while no daemon ran.
@Suite(.onlyOnSQLite, .enabled(if: Installation.hasPythonSQLite, "python3 is not installed"))
struct TamperedDatabaseTests {
    let installation: Installation
    /// An active key of each of three merchants.
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

    /// The code of the refusal of a request for a key on the decryptor socket.
    private func refusal(_ hash: String, _ rest: String, _ arguments: String...) throws -> String {
        try Installation.run(
            ["curl", "-s", "--unix-socket", installation.decryptorSocket] + arguments
                + ["http://localhost/v1/keys/\(pathSpelling(hash))\(rest)"]
        ).text("code")
    }

    /// Expects that a new backup fails its verification.
    ///
    /// - Returns: the findings of the verification.
    private func failedBackup() throws -> String {
        let backup = try installation.ctl("--output", "json", "backup", "create", installation.path("b"))
        #expect(backup.status == 1, "\(backup.output)")
        let document = try backup.json()
        #expect(document["good"] as? Bool == false)
        return (document["findings"] as? [String] ?? []).joined(separator: "\n")
    }

    @Test func `requests for swapped private keys are refused, and other keys stay usable`() throws {
        _ = try installation.sql(
            """
            CREATE TEMP TABLE t AS SELECT id, sealed_bytes b FROM sealed_private_keys WHERE id IN (1, 2);
            UPDATE sealed_private_keys SET sealed_bytes = (SELECT b FROM t WHERE t.id = 3 - sealed_private_keys.id)
            WHERE id IN (1, 2)
            """)
        try installation.start()
        for key in keys[..<2] {
            #expect(try refusal(key, "/symmetric-key", "-d", Installation.ephemeral) == "keyDamaged")
        }
        #expect(try installation.uses(keys[2]) == ["200", "200"])
        // The finding stays in status and health after the request that detected it.
        #expect(try installation.checkStatus() == 2)
        #expect(try installation.findings().contains("keyDamaged"))
        let health = try installation.health()
        #expect(health.status == "200" && health.findings.contains("keyDamaged"), "\(health)")
        let findings = try failedBackup()
        #expect(keys[..<2].allSatisfy(findings.contains) && !findings.contains(keys[2]), "\(findings)")
        let coverage = try installation.ctlJSON("status")["backups"] as? [String: Any]
        #expect(coverage?["merchantsWithoutBackup"] as? Int == 3 && coverage?["lastVerified"] == nil)
    }

    @Test func `requests for a key with an altered certificate are refused, and other keys stay usable`() throws {
        _ = try installation.sql(
            "UPDATE certificates SET der = CAST(substr(der, 1, 60) || x'00' || substr(der, 62) AS BLOB) WHERE id = 1")
        try installation.start()
        #expect(try refusal(keys[0], "") == "keyDamaged")
        #expect(try installation.uses(keys[0]) == ["500", "500"])
        #expect(try installation.uses(keys[1]) == ["200", "200"])
        let findings = try failedBackup()
        #expect(findings.contains(keys[0]), "\(findings)")
    }

    /// Overwrites the first page of a table or an index.
    private func damage(_ name: String) throws {
        let page = try rootPage(of: name)
        try changeDatabase { try Self.overwrite(page, in: $0) }
    }

    /// Overwrites the page with the first rows of a table. The table must fill two pages or more.
    private func damageFirstRows(of table: String) throws {
        let root = try rootPage(of: table)
        try changeDatabase { file in
            try file.seek(toOffset: UInt64(root - 1) * 4096)
            let bytes = [UInt8](try #require(try file.read(upToCount: 4096)))
            func number(at offset: Int, length: Int) -> Int {
                bytes[offset..<offset + length].reduce(0) { $0 << 8 | Int($1) }
            }
            // An interior page of a table: its first cell begins with the number of the leftmost child page.
            try #require(bytes[0] == 5, "the table \(table) fills only one page")
            try Self.overwrite(number(at: number(at: 12, length: 2), length: 4), in: file)
        }
    }

    private func rootPage(of name: String) throws -> Int {
        try #require(Int(try installation.sql("SELECT rootpage FROM sqlite_master WHERE name = '\(name)'")))
    }

    private func changeDatabase(_ change: (FileHandle) throws -> Void) throws {
        _ = try installation.sql("PRAGMA wal_checkpoint(TRUNCATE)")
        let file = try FileHandle(forUpdating: URL(filePath: installation.path("state/merchantkeyd.sqlite")))
        try change(file)
        try file.close()
    }

    private static func overwrite(_ page: Int, in file: FileHandle) throws {
        try file.seek(toOffset: UInt64(page - 1) * 4096)
        try file.write(contentsOf: Data(repeating: 0xFF, count: 4096))
    }

    @Test(arguments: ["events", "registrations", "certificates"])
    func `an unreadable table is detected without a request and stops all changes`(table: String) throws {
        try damage(table)
        try installation.start(answering: ["200", "503"])
        try installation.eventually("the damage is found") { try installation.health().status == "503" }
        #expect(try installation.checkStatus() == 2)
        #expect(try installation.findings().contains("storeFailing"))
        let refused = try installation.ctl("merchant", "add", "merchant.com.later")
        #expect(refused.status == 1 && refused.refusalCode == "storeUnavailable", "\(refused.error)")
    }

    @Test func `a key pair whose state or public key differs from the audit is detected`() throws {
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
        let diagnosis = try installation.diagnose()
        #expect(diagnosis.status == 1 && diagnosis.outcome("rows and schema") == "failure", "\(diagnosis)")
        #expect(diagnosis.detail("rows and schema").contains(keys[0]))
        try installation.start()
        try installation.eventually("the altered rows are detected") { try installation.checkStatus() == 2 }
        let details = try installation.details(of: "keyDamaged")
        #expect([keys[0], keys[1], keys[2]].allSatisfy(details.contains), "\(details)")
        #expect(try failedBackup().contains(keys[0]))
    }

    @Test func `an access that was altered or inserted in the database is detected`() throws {
        try installation.start()
        for name in ["shop", "other"] {
            let created = try installation.ctl(
                "access", "create", name, "--permit", "onboard", "--merchant", "merchant.com.a")
            #expect(created.status == 0, "\(created.error)")
        }
        installation.stop()
        _ = try installation.sql(
            """
            DROP TRIGGER accesses_keep_their_identity; UPDATE accesses SET merchants = NULL WHERE name = 'shop';
            INSERT INTO accesses (name, permits, created_at) VALUES ('thief', 'onboard', 1)
            """)
        let diagnosis = try installation.diagnose()
        #expect(diagnosis.status == 1 && diagnosis.outcome("rows and schema") == "failure", "\(diagnosis)")
        try installation.start()
        try installation.eventually("the altered accesses are detected") { try installation.checkStatus() == 2 }
        let details = try installation.details(of: "keyDamaged")
        #expect(details.contains("access shop ") && details.contains("access thief "), "\(details)")
        #expect(!details.contains("access other "), "\(details)")
        #expect(try failedBackup().contains("access shop "))
    }

    @Test(arguments: [("key_pairs", "id = 1"), ("merchants", "identifier = 'merchant.com.a'")])
    func `a removed row is detected by the audit record of its creation`(table: String, row: String) throws {
        let kept = try installation.sql("SELECT sql FROM sqlite_schema WHERE name = '\(table)_are_kept'")
        #expect(kept.contains("CREATE TRIGGER"))
        // The trigger is created again, so that the schema is unaltered.
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
        try installation.eventually("the removed row is detected") {
            try installation.details(of: "keyDamaged").contains("merchant.com.a")
        }
        #expect(try installation.checkStatus() == 2)
        #expect(try installation.ctl("backup", "create", installation.path("b")).status == 1)
    }

    @Test func `a missing index and an edited audit record are detected, and a table of another program is accepted`()
        throws
    {
        _ = try installation.sql(
            """
            CREATE TABLE of_a_replicator (x); DROP INDEX audit_of_key_pair; DROP TRIGGER audit_is_never_changed;
            UPDATE audit SET caller = 'uid:4242' WHERE sequence = 4
            """)
        try installation.start()
        try installation.eventually("all alterations are detected") {
            let details = try installation.details(of: "keyDamaged")
            // Another program may add tables.
            #expect(!details.contains("of_a_replicator"))
            return try details.contains("index audit_of_key_pair")
                && installation.details(of: "auditBroken").contains("record 4 ")
        }
    }

    @Test func `a missing trigger and a broken audit chain are detected without a request`() throws {
        _ = try installation.sql(
            "DROP TRIGGER audit_is_never_changed; UPDATE audit SET caller = 'uid:4242' WHERE sequence = 4")
        try installation.start()
        try installation.eventually("the broken chain is detected") {
            try installation.findings().contains("auditBroken")
        }
        #expect(try installation.details(of: "keyDamaged").contains("trigger audit_is_never_changed"))
        #expect(try installation.details(of: "auditBroken").contains("record 4 "))
        #expect(try installation.checkStatus() == 2)
        #expect(try installation.uses(keys[0]) == ["200", "200"])
    }

    @Test func `a damaged page is detected after the start and stops all changes, and keys stay usable`() throws {
        try damage("audit_of_caller")
        let diagnosis = try installation.diagnose()
        #expect(diagnosis.status == 1 && diagnosis.outcome("database content") == "failure", "\(diagnosis)")

        try installation.start(answering: ["200", "503"])
        try installation.eventually("the damage is found") { try installation.checkStatus() == 2 }
        let health = try installation.health()
        #expect(health.status == "503" && !health.isReady, "\(health)")
        #expect(try installation.findings().contains("storeFailing"))
        let refused = try installation.ctl("key", "generate", "merchant.com.a")
        #expect(refused.status == 1 && refused.refusalCode == "storeUnavailable", "\(refused.error)")
        for key in keys { #expect(try installation.uses(key) == ["200", "200"]) }
        #expect(try installation.ctl("backup", "create", installation.path("b")).status == 1)
    }

    @Test func `damage of the file stays a critical finding if a later step of the check fails`() throws {
        try installation.start()
        for number in 0..<20 { #expect(try installation.ctl("merchant", "add", "merchant.com.\(number)").status == 0) }
        installation.stop()
        try damageFirstRows(of: "audit")
        try installation.start(answering: ["200", "503"])
        try installation.eventually("the check of the audit chain fails") {
            installation.log.contains("the database could not be checked")
        }
        #expect(try installation.finding("storeDamaged")?["severity"] as? String == "critical")
    }

    @Test func `audit verify reports an edited record by its number`() throws {
        _ = try installation.sql(
            "DROP TRIGGER audit_is_never_changed; UPDATE audit SET caller = 'uid:4242' WHERE sequence = 4")
        try installation.start()
        let outcome = try installation.ctl("--output", "json", "audit", "verify")
        #expect(outcome.status == 1)
        let breaks = try #require(try outcome.json()["breaks"] as? [[String: Any]])
        #expect(
            breaks.contains { $0["kind"] as? String == "edited" && $0["sequence"] as? Int == 4 }, "\(breaks)")
    }
}
