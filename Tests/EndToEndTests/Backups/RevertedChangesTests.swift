import Foundation
import Testing
import Vocabulary

/// A restore reports the changes that it reverts, such as the revocation of keys. Bulk commands do not rely on their
/// reports alone.
@Suite(.onlyOnSQLite) struct RevertedChangesTests {
    private static let merchant = "merchant.com.reverted"
    let installation: Installation
    let backup: String

    init() throws {
        installation = try Installation()
        backup = installation.path("b")
        try installation.start()
        try installation.apple("init")
        #expect(try installation.ctl("merchant", "add", Self.merchant).status == 0)
    }

    @Test(arguments: [false, true])
    func `a repeated restore also reports the keys that an earlier one made usable again`(startsBetween: Bool) throws {
        let revoked = try installation.certifiedKey(Self.merchant, "revoked")
        #expect(try installation.ctl("backup", "create", backup).status == 0)
        #expect(try installation.ctl("key", "revoke", revoked, "--reason", "compromised", "--yes").status == 0)
        installation.stop()
        let undone = try restoreJSON()
        #expect(hashes(undone["usableAgain"]) == [revoked])
        if startsBetween {
            try installation.start()
            installation.stop()
        }
        for _ in 0..<2 {
            #expect(try restore(to: installation.path("state"), "--replace").status == 0)
            try installation.start()
            #expect(try installation.checkStatus() == 1)
            let details = try installation.details(of: "databaseRestored")
            #expect(details.contains(revoked), "\(details)")
            #expect(details.components(separatedBy: "at an earlier restore: ").count == 2, "\(details)")
            installation.stop()
        }
    }

    @Test func `a restore postpones a destruction cancelled since the backup, and keeps the time of an export`()
        throws
    {
        let doomed = try installation.certifiedKey(Self.merchant, "doomed")
        let other = try installation.certifiedKey(Self.merchant, "other")
        #expect(try installation.ctl("key", "revoke", doomed, "--reason", "compromised", "--yes").status == 0)
        #expect(try installation.ctl("key", "destroy", doomed, "--after", "1s", "--yes").status == 0)
        #expect(try installation.ctl("backup", "create", backup).status == 0)
        #expect(try installation.ctl("key", "restore", doomed).status == 0)
        #expect(try installation.ctl("key", "promote", doomed).status == 0)
        let config = try installation.write(
            "callers:\n  - uid: \(getuid())\n    permits: [administer, read, resolve, exportPrivateKey]\n", "c.yaml")
        installation.stop()
        try installation.start(config: config)
        #expect(
            try installation.curl(installation.decryptorSocket, "/v1/keys/\(pathSpelling(other))?include=privateKey")
                .output == "200")
        installation.stop()
        let undone = try restoreJSON()
        #expect(undone["destructionsCount"] as? Int == 1 && undone["exportsCount"] as? Int == 1, "\(undone)")
        try installation.start(config: config)
        let key = try installation.ctlJSON("key", "show", doomed)
        #expect(key["state"] as? String == "revoked")
        let text = try #require(key["destroyAfter"] as? String)
        let after = try #require(Timestamp(rfc3339: text))
        #expect(after > Timestamp(Date()).adding(.seconds(29 * 86_400)))
        #expect(try installation.ctlJSON("key", "show", other)["exportedAt"] != nil)
    }

    private func restore(to directory: String, _ arguments: String...) throws -> Installation.Outcome {
        try Installation.run(
            ["\(Installation.programs)/merchantkeyctl", "backup", "restore", backup, "--state-directory", directory]
                + arguments)
    }

    /// Restores over the installation's database.
    ///
    /// - Returns: the reverted changes.
    private func restoreJSON() throws -> [String: Any] {
        let done = try restore(to: installation.stateDirectory, "--replace", "--output", "json")
        try #require(done.status == 0, "\(done.error)")
        return try #require(try done.json()["undone"] as? [String: Any], "\(done.output)")
    }

    private func hashes(_ changes: Any?) -> Set<String> {
        Set((changes as? [[String: Any]] ?? []).compactMap { $0["publicKeyHash"] as? String })
    }

    @Test func `a restore and the status name the keys that were revoked, destroyed or generated since the backup`()
        throws
    {
        let kept = try installation.certifiedKey(Self.merchant, "kept")
        let revoked = try installation.certifiedKey(Self.merchant, "revoked")
        let destroyed = try installation.certifiedKey(Self.merchant, "destroyed")
        #expect(try installation.ctl("backup", "create", backup).status == 0)
        #expect(try installation.ctl("key", "revoke", revoked, "--reason", "compromised", "--yes").status == 0)
        #expect(try installation.ctl("key", "revoke", destroyed, "--reason", "compromised", "--yes").status == 0)
        #expect(try installation.ctl("key", "destroy", destroyed, "--after", "0s", "--yes").status == 0)
        let generated = try installation.certifiedKey(Self.merchant, "generated")
        #expect(try installation.uses(revoked) == ["410", "410"])
        // The write-ahead log still contains the changes.
        installation.stop(SIGKILL)

        let undone = try restoreJSON()
        let again = try #require(undone["usableAgain"] as? [[String: Any]])
        #expect(undone["usableAgainCount"] as? Int == 2 && hashes(again) == [revoked, destroyed], "\(undone)")
        for (hash, state) in [(revoked, "revoked"), (destroyed, "destroyed")] {
            let change = try #require(again.first { $0["publicKeyHash"] as? String == hash })
            #expect(change["was"] as? String == state && change["now"] as? String == "standby", "\(change)")
            #expect(change["merchantIdentifier"] as? String == Self.merchant)
        }
        #expect(hashes(undone["missing"]) == [generated], "\(undone)")
        #expect(!"\(undone)".contains(kept))

        try installation.start()
        #expect(try installation.uses(revoked) == ["200", "200"])
        #expect(try installation.checkStatus() == 1)
        let details = try installation.details(of: "databaseRestored")
        #expect(details.contains(revoked) && details.contains(destroyed) && !details.contains(kept), "\(details)")
        #expect(try installation.health().findings.contains("databaseRestored"))
        let record = try #require(try installation.auditRecords("databaseRestored").first)
        #expect((record["reason"] as? String)?.contains(revoked) == true, "\(record)")
    }

    @Test func `a restore that reverts no change of a key reports none`() throws {
        _ = try installation.certifiedKey(Self.merchant, "kept")
        #expect(try installation.ctl("backup", "create", backup).status == 0)
        installation.stop()
        let undone = try restoreJSON()
        #expect(undone["usableAgainCount"] as? Int == 0 && undone["missingCount"] as? Int == 0, "\(undone)")
        try installation.start()
        #expect(try !installation.details(of: "databaseRestored").contains("Undone"))
    }

    @Test func `a restore names the audit records that the backup lacks`() throws {
        let created = try installation.ctlJSON("backup", "create", backup)["backup"] as? [String: Any]
        let headOfBackup = try #require(
            (created?["auditHead"] as? String)?.split(separator: ":").first.flatMap { Int($0) })
        #expect(try installation.ctl("merchant", "add", "merchant.com.later").status == 0)
        let head = try #require(try installation.ctlJSON("status")["auditHead"] as? String)
        installation.stop()
        let undone = try restoreJSON()
        #expect(undone["firstMissingAuditRecord"] as? Int == headOfBackup + 1, "\(undone)")
        let last = try #require(undone["lastMissingAuditRecord"] as? Int)
        #expect(last >= Int(head.split(separator: ":")[0]) ?? .max, "\(undone)")
        try installation.start()
        let details = try installation.details(of: "databaseRestored")
        #expect(details.contains("audit records \(headOfBackup + 1) to \(last) are missing"), "\(details)")
        let record = try #require(try installation.auditRecords("databaseRestored").first)
        #expect((record["reason"] as? String)?.contains("\(headOfBackup + 1) to \(last)") == true, "\(record)")
    }

    @Test func `a restore names the certificates stored since the backup, and the same upload stores them again`()
        throws
    {
        let names = (1...5).map { "merchant.com.reverted.shop\($0)" }
        let rows = ["merchantIdentifier,targetActiveKeyPairs"] + names.map { "\($0),1" }
        let csv = try installation.write(rows.joined(separator: "\n") + "\n", "m.csv")
        let (csrs, signed) = (installation.path("csr"), installation.path("signed"))
        func importMerchants() throws -> [String: Any] {
            try installation.ctlJSON(
                "merchant", "import", csv, "--generate-keys", "--csr-directory", csrs)
        }
        func upload() throws -> [String: Any] { try installation.ctlJSON("certificate", "upload", signed) }
        func states() throws -> [String: Int] {
            try #require(try installation.ctlJSON("status")["keyPairs"] as? [String: Int])
        }
        #expect(try importMerchants()["done"] as? Int == 5)
        try FileManager.default.createDirectory(atPath: signed, withIntermediateDirectories: false)
        for file in try FileManager.default.contentsOfDirectory(atPath: csrs) {
            try installation.apple(
                "issue", "--csr", "\(csrs)/\(file)", "--merchant", String(file.split(separator: "-")[0]), "--out",
                "\(signed)/\(file).cer")
        }
        #expect(try installation.ctl("backup", "create", backup).status == 0)
        #expect(try upload()["done"] as? Int == 5)
        #expect(try upload()["skipped"] as? Int == 5, "expected that the daemon confirms the report")
        let stored = try names.map { name in
            let items = try installation.ctlJSON("key", "list", name)["items"] as? [[String: Any]]
            return try #require(items?.first?["publicKeyHash"] as? String)
        }
        installation.stop()

        let undone = try restoreJSON()
        #expect(undone["earlierStateCount"] as? Int == 5 && undone["certificatesCount"] as? Int == 5, "\(undone)")
        let named = try #require(undone["earlierState"] as? [[String: Any]])
        #expect(Set(named.compactMap { $0["publicKeyHash"] as? String }) == Set(stored))
        #expect(named.allSatisfy { $0["was"] as? String == "standby" && $0["now"] as? String == "pending" })

        try installation.start()
        #expect(try installation.checkStatus() == 1)
        let details = try installation.details(of: "databaseRestored")
        #expect(stored.allSatisfy(details.contains), "\(details)")
        #expect(try installation.uses(stored[0]).first == "404")
        let again = try upload()
        #expect(again["done"] as? Int == 5 && again["skipped"] as? Int == 0, "\(again)")
        #expect(try states()["standby"] == 5)
        #expect(try installation.uses(stored[0]).first == "200")
    }

    @Test func `an import into an empty daemon repeats everything, although its report lists every merchant as done`()
        throws
    {
        let csv = try installation.write("merchantIdentifier\nmerchant.com.a\nmerchant.com.b\n", "m.csv")
        #expect(try installation.ctlJSON("merchant", "import", csv)["done"] as? Int == 2)
        #expect(try installation.ctlJSON("merchant", "import", csv)["skipped"] as? Int == 2)
        installation.stop()
        try FileManager.default.removeItem(atPath: installation.path("state"))
        try installation.start()
        let again = try installation.ctlJSON("merchant", "import", csv)
        #expect(again["done"] as? Int == 2 && again["skipped"] as? Int == 0, "\(again)")
        #expect(try installation.ctlJSON("status")["merchants"] as? Int == 2)
    }

    @Test func `a repeated upload skips a certificate of a key pair that was revoked meanwhile`() throws {
        let hash = try installation.certifiedKey(Self.merchant, "one")
        let signed = installation.path("signed")
        try FileManager.default.createDirectory(atPath: signed, withIntermediateDirectories: false)
        let pem = try Installation.run([
            "openssl", "x509", "-inform", "DER", "-in", installation.path("one.cer"), "-text", "-out",
            "\(signed)/one.pem",
        ])
        #expect(pem.status == 0, "\(pem.error)")
        #expect(try installation.ctlJSON("certificate", "upload", signed)["failed"] as? Int == 0)
        #expect(try installation.ctl("key", "revoke", hash, "--reason", "compromised", "--yes").status == 0)
        #expect(try installation.ctlJSON("certificate", "upload", signed)["skipped"] as? Int == 1)
    }

    @Test func `a missing CSR file is written again, although the report lists it as written`() throws {
        #expect(try installation.ctl("key", "generate", Self.merchant).status == 0)
        let out = installation.path("out")
        func files() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: out).filter { $0.hasSuffix(".certSigningRequest") }
        }
        #expect(try installation.ctl("key", "csr", "--all-pending", "--out", out).status == 0)
        try FileManager.default.removeItem(atPath: "\(out)/\(try #require(try files().first))")
        #expect(try installation.ctl("key", "csr", "--all-pending", "--out", out).status == 0)
        #expect(try files().count == 1)
    }

    @Test
    func
        `a restore into an empty directory or over an unreadable database reports that the reverted changes are unknown`()
        throws
    {
        _ = try installation.certifiedKey(Self.merchant, "kept")
        #expect(try installation.ctl("backup", "create", backup).status == 0)
        installation.stop()
        let other = try Installation()
        try other.createStateDirectory()
        try FileManager.default.copyItem(
            atPath: installation.path("state/master.key"), toPath: other.path("state/master.key"))
        let onEmpty = try restore(to: other.path("state"))
        #expect(onEmpty.status == 0)
        // The operator must search an exported audit for these actions.
        #expect(onEmpty.output.contains("keyRevoked") && onEmpty.output.contains("keyDestroyed"), "\(onEmpty.output)")
        try other.start()
        #expect(try other.findings().contains("databaseRestored"))
        other.stop()

        let database = installation.path("state/merchantkeyd.sqlite")
        try Data("no database".utf8).write(to: URL(filePath: database))
        #expect(try restoreJSON()["unknownBecause"] is String)
    }

    @Test func `merchant show reports whether a verified backup contains the merchant's newest key`() throws {
        func backedUp() throws -> Bool? {
            try installation.ctlJSON("merchant", "show", Self.merchant)["newestKeyBackedUp"] as? Bool
        }
        #expect(try backedUp() == nil)
        #expect(try installation.ctl("key", "generate", Self.merchant).status == 0)
        #expect(try backedUp() == false)
        let listed = try installation.ctlJSON("merchant", "list")["items"] as? [[String: Any]]
        #expect(listed?.first?["newestKeyBackedUp"] as? Bool == false)
        func merchantsWithoutBackup() throws -> [String]? {
            (try installation.ctlJSON("status")["backups"] as? [String: Any])?["withoutBackup"] as? [String]
        }
        #expect(try merchantsWithoutBackup() == [Self.merchant])
        #expect(try installation.ctl("status").output.contains(Self.merchant))
        #expect(try installation.ctl("backup", "create", backup, "--unverified").status == 0)
        #expect(try backedUp() == false, "expected that an unverified backup does not count")
        #expect(try installation.ctl("backup", "verify", backup).status == 0)
        #expect(try backedUp() == true)
        #expect(try merchantsWithoutBackup() == [])
        #expect(try installation.ctl("key", "generate", Self.merchant).status == 0)
        #expect(try backedUp() == false)
    }
}
