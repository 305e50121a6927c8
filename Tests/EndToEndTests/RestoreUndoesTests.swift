import Foundation
import Testing
import Vocabulary

/// A restore names what it undoes: above all, revoked keys that are usable again.
@Suite struct RestoreUndoesTests {
    private static let merchant = "merchant.com.undone"
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
    func `a restore that is run again still names the keys that are usable again`(startsBetween: Bool) throws {
        let revoked = try installation.certifiedKey(Self.merchant, "revoked")
        #expect(try installation.ctl("backup", "create", backup).status == 0)
        #expect(try installation.ctl("key", "revoke", revoked, "--reason", "compromised", "--yes").status == 0)
        installation.stop()
        #expect(try restore(to: installation.path("state"), "--replace").output.contains("USABLE AGAIN"))
        if startsBetween {
            try installation.start()
            installation.stop()
        }
        #expect(try restore(to: installation.path("state"), "--replace").status == 0)
        try installation.start()
        let check = try installation.check()
        #expect(check.status == 1 && check.line.contains(revoked), "\(check)")
    }

    @Test func `a key that was in use again is not destroyed by a restore, and an export is not forgotten`() throws {
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
        let path = other.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        #expect(
            try installation.curl(installation.decryptorSocket, "/v1/keys/\(path)?include=privateKey").output == "200")
        installation.stop()
        let done = try restore(to: installation.path("state"), "--replace", "--output", "json").json()
        let undone = try #require(done["undone"] as? [String: Any], "\(done)")
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

    @Test func `keys that were revoked, destroyed or made since the backup are named, by the restore and by status`()
        throws
    {
        let kept = try installation.certifiedKey(Self.merchant, "kept")
        let revoked = try installation.certifiedKey(Self.merchant, "revoked")
        let destroyed = try installation.certifiedKey(Self.merchant, "destroyed")
        #expect(try installation.ctl("backup", "create", backup).status == 0)
        #expect(try installation.ctl("key", "revoke", revoked, "--reason", "compromised", "--yes").status == 0)
        #expect(try installation.ctl("key", "revoke", destroyed, "--reason", "compromised", "--yes").status == 0)
        #expect(try installation.ctl("key", "destroy", destroyed, "--after", "0s", "--yes").status == 0)
        let made = try installation.certifiedKey(Self.merchant, "made")
        #expect(try installation.uses(revoked) == ["410", "410"])
        // With a write-ahead log that holds all of it.
        installation.stop(SIGKILL)

        let done = try restore(to: installation.path("state"), "--replace")
        #expect(done.status == 0, "\(done.error)")
        let lines = done.output.split(separator: "\n").map(String.init)
        func line(_ hash: String) -> String { lines.first { $0.contains(hash) } ?? "" }
        #expect(line(revoked).contains("USABLE AGAIN") && line(revoked).contains("was revoked"), "\(done.output)")
        #expect(line(revoked).contains(Self.merchant))
        #expect(
            line(destroyed).contains("USABLE AGAIN") && line(destroyed).contains("was destroyed"), "\(done.output)")
        #expect(line(made).contains("is missing from this database"), "\(done.output)")
        #expect(line(kept).isEmpty, "\(done.output)")

        try installation.start()
        #expect(try installation.uses(revoked) == ["200", "200"])
        let check = try installation.check()
        #expect(check.status == 1 && check.line.contains("2 revoked key pairs are usable again"), "\(check)")
        for hash in [revoked, destroyed] { #expect(check.line.contains(hash), "\(check)") }
        #expect(try installation.health().body.contains("usable again"))
        let audit = try installation.ctlJSON("audit", "list", "--limit", "20")["items"] as? [[String: Any]]
        let record = try #require(audit?.first { $0["action"] as? String == "databaseRestored" })
        #expect((record["reason"] as? String)?.contains(revoked) == true, "\(record)")
    }

    @Test func `a restore that changes no key says so, and programs can read it`() throws {
        _ = try installation.certifiedKey(Self.merchant, "kept")
        #expect(try installation.ctl("backup", "create", backup).status == 0)
        installation.stop()
        let done = try restore(to: installation.path("state"), "--replace", "--output", "json")
        let undone = try #require(try done.json()["undone"] as? [String: Any])
        #expect(undone["usableAgainCount"] as? Int == 0 && undone["missingCount"] as? Int == 0, "\(undone)")
    }

    @Test func `certificates stored since the backup are named, and the same upload stores them again`() throws {
        let names = (1...5).map { "merchant.com.undone.shop\($0)" }
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
        #expect(try upload()["skipped"] as? Int == 5, "the daemon confirms what the report says")
        let hashes = try names.map { name in
            let items = try installation.ctlJSON("key", "list", name)["items"] as? [[String: Any]]
            return try #require(items?.first?["publicKeyHash"] as? String)
        }
        installation.stop()

        let restored = try restore(to: installation.path("state"), "--replace", "--output", "json")
        let undone = try #require(try restored.json()["undone"] as? [String: Any])
        #expect(undone["earlierStateCount"] as? Int == 5 && undone["certificatesCount"] as? Int == 5, "\(undone)")
        let named = try #require(undone["earlierState"] as? [[String: Any]])
        #expect(Set(named.compactMap { $0["publicKeyHash"] as? String }) == Set(hashes))
        #expect(named.allSatisfy { $0["was"] as? String == "standby" && $0["now"] as? String == "pending" })

        try installation.start()
        let check = try installation.check()
        #expect(check.status == 1 && hashes.allSatisfy(check.line.contains), "\(check)")
        #expect(try installation.uses(hashes[0]).first == "404")
        let again = try upload()
        #expect(again["done"] as? Int == 5 && again["skipped"] as? Int == 0, "\(again)")
        #expect(try states()["standby"] == 5)
        #expect(try installation.uses(hashes[0]).first == "200")
    }

    @Test func `an import is done again against a daemon that has nothing, whatever its report says`() throws {
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

    @Test func `a certificate whose key pair was revoked since is as the report says`() throws {
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

    @Test func `a CSR file that is gone is written again, whatever the report says`() throws {
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

    @Test func `on an empty directory, and over a database that cannot be read, it is said that nothing is known`()
        throws
    {
        _ = try installation.certifiedKey(Self.merchant, "kept")
        #expect(try installation.ctl("backup", "create", backup).status == 0)
        installation.stop()
        let other = try Installation()
        try FileManager.default.createDirectory(
            atPath: other.path("state"), withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        try FileManager.default.copyItem(
            atPath: installation.path("state/master.key"), toPath: other.path("state/master.key"))
        let onEmpty = try restore(to: other.path("state"))
        #expect(onEmpty.status == 0 && onEmpty.output.contains("there was no database here"))
        #expect(onEmpty.output.contains("keyRevoked and keyDestroyed after"), "\(onEmpty.output)")
        try other.start()
        #expect(try other.check().line.contains("is not known"))
        other.stop()

        let database = installation.path("state/merchantkeyd.sqlite")
        try Data("no database".utf8).write(to: URL(filePath: database))
        let onRubbish = try restore(to: installation.path("state"), "--replace")
        #expect(onRubbish.status == 0 && onRubbish.output.contains("cannot be read"), "\(onRubbish.output)")
    }

    @Test func `each merchant shows whether a verified backup holds its newest key`() throws {
        func backedUp() throws -> Bool? {
            try installation.ctlJSON("merchant", "show", Self.merchant)["newestKeyBackedUp"] as? Bool
        }
        #expect(try backedUp() == nil)
        #expect(try installation.ctl("key", "generate", Self.merchant).status == 0)
        #expect(try backedUp() == false)
        #expect(try installation.ctl("merchant", "list").output.contains("no"))
        func named() throws -> [String]? {
            (try installation.ctlJSON("status")["backups"] as? [String: Any])?["withoutBackup"] as? [String]
        }
        #expect(try named() == [Self.merchant])
        #expect(try installation.ctl("status").output.contains("1: \(Self.merchant)"))
        #expect(try installation.ctl("backup", "create", backup, "--unverified").status == 0)
        #expect(try backedUp() == false, "a backup that nobody tried out counts for nothing")
        #expect(try installation.ctl("backup", "verify", backup).status == 0)
        #expect(try backedUp() == true)
        #expect(try named() == [])
        #expect(try installation.ctl("key", "generate", Self.merchant).status == 0)
        #expect(try backedUp() == false)
    }
}
