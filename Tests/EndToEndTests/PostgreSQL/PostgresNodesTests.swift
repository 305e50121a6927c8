import Foundation
import MerchantTestSupport
import Testing

/// Several daemons on one PostgreSQL database.
@Suite struct PostgresNodesTests {
    private static let merchant = PostgresInstallation.merchant

    let postgres: PostgresInstallation
    /// The second daemon's programs, files and sockets.
    let second: Installation

    init() throws {
        postgres = try PostgresInstallation()
        second = try Installation()
    }

    private var first: Installation { postgres.installation }

    /// Starts both daemons on a new database, with one master key.
    private func startBoth(_ lines: String = "", serveStale: String? = nil) throws {
        try postgres.start(with: ["two": second], lines, serveStale: serveStale)
    }

    private func resolve(_ hash: String, on node: Installation) throws -> String {
        try node.curl(node.decryptorSocket, "/v1/keys/\(pathSpelling(hash))").output
    }

    /// Writes two master keys, the same for every node, to the files `old.key` and `new.key`.
    private func writeMasterKeys(_ node: Installation) throws {
        for (name, byte) in [("old.key", UInt8(1)), ("new.key", 2)] {
            let bytes = Data((0..<32).map { $0 &* 7 &+ byte })
            #expect(
                FileManager.default.createFile(
                    atPath: node.path(name), contents: bytes, attributes: [.posixPermissions: 0o600]))
        }
    }

    @Test func `without serve-stale, no daemon uses a key once its revocation is acknowledged`() throws {
        try startBoth()
        _ = try postgres.onboard()
        for (round, name) in ["a", "b", "c", "d"].enumerated() {
            // The validity of the next certificate must begin in a later second.
            Installation.waitForNextSecond()
            let hash = try first.certifiedKey(Self.merchant, name)
            let token = try postgres.token(for: name)
            for node in [first, second] {
                #expect(try resolve(hash, on: node) == "200")
                #expect(try node.ctl("token", "decrypt", token).status == 0)
            }
            let (changer, other) = round.isMultiple(of: 2) ? (first, second) : (second, first)
            #expect(try changer.ctl("key", "revoke", hash, "--reason", "compromised", "--yes").status == 0)
            #expect(try resolve(hash, on: other) != "200")
            #expect(try other.ctl("token", "decrypt", token).refusalCode == "keyRevoked")
        }
        #expect(try second.ctl("audit", "verify").status == 0)
        let revocations = try second.auditRecords("keyRevoked").compactMap { $0["node"] as? String }
        #expect(revocations.sorted() == ["one", "one", "two", "two"])
    }

    @Test func `a token is claimed once on all daemons`() throws {
        try startBoth()
        _ = try postgres.onboard()
        for _ in 0..<5 {
            let token = try postgres.token()
            #expect(try second.ctl("token", "decrypt", token, "--claim").status == 0)
            #expect(try first.ctl("token", "decrypt", token, "--claim").refusalCode == "tokenAlreadyClaimed")
        }
    }

    @Test func `the list of nodes shows each daemon, its lease, and which one is the leader`() throws {
        try startBoth()
        func nodes() throws -> [[String: Any]] {
            try #require(try second.ctlJSON("node", "list")["items"] as? [[String: Any]])
        }
        let listed = try nodes()
        #expect(listed.map { $0["name"] as? String } == ["one", "two"])
        #expect(listed.map { $0["isLeader"] as? Bool } == [true, false])
        #expect(listed.map { $0["isThisDaemon"] as? Bool } == [false, true])
        #expect(listed.allSatisfy { ($0["leaseSeconds"] as? Double ?? 0) > 0 })
        first.stop()
        try second.eventually("the second daemon is the leader", within: .seconds(30)) {
            try nodes().map { $0["isLeader"] as? Bool } == [true]
        }
    }

    @Test func `a revocation waits for the lease of a frozen daemon, which then does not use the key`() throws {
        try startBoth()
        let hash = try postgres.onboard()
        _ = try first.certifiedKey(Self.merchant, "other")
        #expect(try resolve(hash, on: second) == "200")
        let frozen = try #require(second.process)
        kill(frozen, SIGSTOP)
        #expect(try first.ctl("key", "revoke", hash, "--reason", "compromised", "--yes").status == 0)
        kill(frozen, SIGCONT)
        #expect(try resolve(hash, on: second) != "200")
        try second.eventually("the frozen daemon serves again", within: .seconds(30)) {
            try second.health().status == "200"
        }
    }

    @Test func `a revocation names the daemons that may still use the key, until they are removed`() throws {
        try startBoth(serveStale: "1h")
        #expect(try first.ctl("merchant", "add", Self.merchant).status == 0)
        let hashes = try ["a", "b", "c"].map { try first.certifiedKey(Self.merchant, $0) }
        func revoke(_ hash: String) throws -> [String]? {
            try first.ctlJSON("key", "revoke", hash, "--reason", "compromised", "--yes")["staleNodes"] as? [String]
        }
        #expect(try revoke(hashes[0]) == nil)
        #expect(try first.ctl("node", "remove", "two", "--yes").refusalCode == "nodeInUse")
        second.stop(SIGKILL)
        // The revocation waits until the lease of the killed daemon has ended.
        #expect(try revoke(hashes[1]) == ["two"])
        #expect(try first.ctl("node", "remove", "two", "--yes").status == 0)
        #expect(try first.ctl("node", "remove", "two", "--yes").refusalCode == "notFound")
        #expect(try revoke(hashes[2]) == nil)
        let records = try #require(try first.ctlJSON("audit", "list")["items"] as? [[String: Any]])
        #expect(
            records.count { $0["action"] as? String == "nodeRemoved" && $0["reason"] as? String == "node=two" } == 1)
    }

    @Test func `a second daemon needs the master key, a name of its own and the same environment`() throws {
        let database = try postgres.server.createDatabase()
        let config = try postgres.config(database, node: "one")
        try first.start(config: config)
        func expectRefusal(_ finding: String, _ config: String) throws {
            let checked = try second.ctl(
                "config", "check", "--config", config, "--state-directory", second.stateDirectory)
            #expect(checked.status == 1 && checked.startFinding == finding, "\(checked.error)")
            try second.expectRefusedStart(finding, ["--config", config])
        }
        let secondConfig = try postgres.config(database, node: "two", named: "second.yaml")
        try expectRefusal("masterKeyMissing", secondConfig)
        #expect(!FileManager.default.fileExists(atPath: second.path("state/master.key")))
        try FileManager.default.copyItem(
            atPath: first.path("state/master.key"), toPath: second.path("state/master.key"))
        try expectRefusal("nodeNameInUse", config)
        let own = try first.ctl("config", "check", "--config", config, "--state-directory", first.stateDirectory)
        #expect(own.status == 0, "\(own.error)")
        let another = second.path("another.key")
        try #require(try Installation.run(["openssl", "rand", "-out", another, "32"]).status == 0)
        #expect(chmod(another, 0o600) == 0)
        try expectRefusal(
            "masterKeyRejected",
            postgres.config(database, "master-key:\n  file: \(another)", node: "two", named: "another.yaml"))
        let sandbox = try String(contentsOfFile: secondConfig, encoding: .utf8)
        let production = try second.write(
            sandbox.replacing("environment: sandbox", with: "environment: production"), "production.yaml")
        try expectRefusal("environmentConflict", production)
        #expect(try first.health().status == "200")
    }

    @Test func `after the first daemon was killed, the other one delivers each event once`() throws {
        let webhook = try WebhookReceiver(for: first)
        try startBoth(webhook.settings)
        #expect(try first.ctl("merchant", "add", "merchant.com.example.a", "--target", "0").status == 0)
        first.stop(SIGKILL)
        #expect(try second.ctl("merchant", "add", Self.merchant).status == 0)
        try second.apple("init")
        let hash = try second.certifiedKey(Self.merchant, "first")
        try second.eventually("the event is delivered", within: .seconds(60)) {
            try webhook.kinds().contains("certificateStored")
        }
        #expect(try webhook.kinds().count { $0 == "certificateStored" } == 1)
        #expect(try resolve(hash, on: second) == "200")
    }

    @Test func `a rotation that generates the master key is refused while other daemons run`() throws {
        try startBoth()
        _ = try postgres.onboard()
        let refused = try first.ctl("master-key", "rotate", "--yes")
        #expect(refused.refusalCode == "masterKeyConflict" && refused.error.contains("two"), "\(refused.error)")
        second.stop()
        #expect(try first.ctl("master-key", "rotate", "--yes").status == 0)
        #expect(try first.ctl("token", "decrypt", postgres.token()).status == 0)
    }

    @Test func `a daemon that cannot read the new master key logs the file, and the rotation continues once it can`()
        throws
    {
        for node in [first, second] { try writeMasterKeys(node) }
        let database = try postgres.server.createDatabase()
        func config(_ node: Installation, _ name: String, _ keys: String) throws -> String {
            try postgres.config(database, "master-key:\n" + keys, node: name, named: "\(name).yaml")
        }
        try first.start(config: config(first, "one", "  file: \(first.path("old.key"))"))
        let hash = try postgres.onboard()
        first.stop()
        try second.createStateDirectory()
        for (node, name) in [(first, "one"), (second, "two")] {
            let keys = "  file: \(node.path("new.key"))\n  previous:\n    file: \(node.path("old.key"))"
            try node.start(config: config(node, name, keys))
        }
        try first.eventually("the other daemon has the key") {
            try first.ctl("master-key", "rotate", "--yes", "--dry-run").status == 0
        }
        let hidden = second.path("hidden.key")
        try FileManager.default.moveItem(atPath: second.path("new.key"), toPath: hidden)
        // The leader may be either daemon, and needs the key file only when the rotation begins.
        #expect(try first.ctl("master-key", "rotate", "--yes", "--no-wait").status == 0)
        try second.eventually("the log names the file") { second.log.contains(second.path("new.key")) }
        #expect(try resolve(hash, on: second) == "200")
        try FileManager.default.moveItem(atPath: hidden, toPath: second.path("new.key"))
        try first.eventually("the rotation is finished", within: .seconds(60)) {
            try first.auditRecords("masterKeyRotationFinished").count == 1
        }
        for node in [first, second] { #expect(try node.ctl("token", "decrypt", postgres.token()).status == 0) }
    }

    @Test func `all daemons follow a rotation to a master key that the operator supplied`() throws {
        try writeMasterKeys(first)
        let database = try postgres.server.createDatabase()
        func config(_ node: String, isSupplied: Bool) throws -> String {
            try postgres.config(
                database,
                isSupplied
                    ? """
                    master-key:
                      file: \(first.path("new.key"))
                      previous:
                        file: \(first.path("old.key"))
                    """ : "master-key:\n  file: \(first.path("old.key"))", node: node, named: "\(node).yaml")
        }
        try first.start(config: config("one", isSupplied: false))
        try second.createStateDirectory()
        try second.start(config: config("two", isSupplied: false))
        let hash = try postgres.onboard()
        let token = try postgres.token()
        func expectBothDecrypt() throws {
            for node in [first, second] {
                #expect(try node.ctl("token", "decrypt", token).status == 0)
                #expect(try node.ctl("key", "generate", Self.merchant).status == 0)
                #expect(try resolve(hash, on: node) == "200")
                #expect(try !node.findings().contains("keyDamaged"))
            }
        }
        try expectBothDecrypt()
        func restart(_ node: Installation, _ name: String) throws {
            node.stop()
            try node.start(config: config(name, isSupplied: true))
        }
        try restart(first, "one")
        let refused = try first.ctl("master-key", "rotate", "--yes")
        #expect(refused.refusalCode == "masterKeyConflict" && refused.error.contains("two"), "\(refused.error)")
        try restart(second, "two")
        // Soon after its start, a daemon reports which master keys it has.
        try first.eventually("a rotation is possible") {
            try first.ctl("master-key", "rotate", "--yes", "--dry-run").status == 0
        }
        let new = try first.ctlJSON("master-key", "identify", first.path("new.key"))["masterKeyIdentifier"] as? String
        #expect(try second.ctl("master-key", "rotate", "--yes").status == 0)
        try expectBothDecrypt()
        for node in [first, second] {
            #expect(try node.ctlJSON("master-key", "status")["masterKeyIdentifier"] as? String == new)
        }
        let again = try first.ctl("master-key", "rotate", "--data-key-only", "--yes")
        #expect(again.status == 0, "\(again.error)")
        try expectBothDecrypt()
        let usable =
            "SELECT count(*) FROM merchantkeyd.data_keys WHERE sealed_bytes <> merchantkeyd.zeros(octet_length(sealed_bytes))"
        #expect(try postgres.server.execute(usable, in: database) == "1")
        #expect(try first.ctl("audit", "verify").status == 0)
        #expect(try first.auditRecords("masterKeyRotationFinished").count == 2)
    }
}
