import Foundation
import Testing

/// A roll with the real programs and the sandbox's tokens, also with a kill between any two steps.
@Suite struct KeyRollTests {
    static let merchant = "merchant.com.example.rolled"

    let installation: Installation
    let config: String

    init() throws {
        installation = try Installation()
        try installation.apple("init")
        config = try installation.write(
            """
            environment: sandbox
            trust:
              token-roots: [\(installation.path("apple/root.pem"))]
            roll:
              quiet-period: 2s
            """, "merchantkeyd.yaml")
        try installation.start(config: config)
        #expect(try installation.ctl("merchant", "add", Self.merchant).status == 0)
    }

    private func killAndRestart() throws {
        installation.stop(SIGKILL)
        try installation.start(config: config)
    }

    /// Mints a token.
    ///
    /// - Returns: its file's path.
    private func token(_ certificate: String) throws -> String {
        let token = installation.path("token-\(UUID().uuidString).json")
        try installation.apple(
            "mint-token", "--certificate", installation.path("\(certificate).cer"), "--out", token)
        return token
    }

    private func decrypt(_ certificate: String) throws -> Installation.Outcome {
        let token = try token(certificate)
        return try installation.ctl("token", "decrypt", token, "--merchant", Self.merchant, "--raw")
    }

    private func expectDecryption(_ when: String) throws {
        for name in ["first", "second"] {
            let outcome = try decrypt(name)
            #expect(outcome.status == 0, "\(name), \(when): \(outcome.error)")
        }
    }

    /// The merchant's newest roll.
    private func roll() throws -> [String: Any] {
        let list = try installation.ctlJSON("roll", "status", Self.merchant)
        return try #require((list["items"] as? [[String: Any]])?.first)
    }

    /// Waits up to 15 seconds, because the daemon stores the uses of keys only every few seconds.
    private func wait(until state: String) throws {
        try installation.eventually("the roll is \(state)", within: .seconds(15)) {
            try roll()["state"] as? String == state
        }
    }

    @Test func `during a roll by two commands, tokens for both keys decrypt without a failure`() throws {
        let first = try installation.certifiedKey(Self.merchant, "first")
        #expect(try installation.ctl("key", "promote", first).status == 0)
        // The validity of the next certificate must begin in a later second.
        Installation.waitForNextSecond()
        let client = DecryptingClient(installation.decryptorSocket)
        defer { client.stop() }
        func expectDecryption(of names: String..., when: String) throws {
            let before = client.decrypted
            try installation.eventually("tokens of \(names) are decrypted \(when)") {
                names.allSatisfy { client.decrypted[$0, default: 0] >= before[$0, default: 0] + 20 }
            }
            #expect(client.failures == [], "\(when)")
        }
        try client.setToken(try token("first"), of: "first", merchant: Self.merchant)
        try expectDecryption(of: "first", when: "before the roll")

        #expect(
            try installation.ctl("roll", "start", Self.merchant, "--csr", installation.path("second.csr")).status == 0)
        try installation.apple(
            "issue", "--csr", installation.path("second.csr"), "--merchant", Self.merchant, "--out",
            installation.path("second.cer"))
        #expect(try installation.ctl("certificate", "upload", installation.path("second.cer")).status == 0)
        try client.setToken(try token("second"), of: "second", merchant: Self.merchant)
        try wait(until: "promoted")
        try expectDecryption(of: "first", "second", when: "while tokens for both keys arrive")
        let early = try installation.ctl("roll", "finish", Self.merchant, "--yes")
        #expect(early.status == 1 && early.refusalCode == "rollNotQuiet", "\(early.error)")

        try client.setToken(nil, of: "first", merchant: Self.merchant)
        try wait(until: "quiet")
        // The client's last use may not be stored yet.
        try installation.eventually("the roll is finished") {
            try installation.ctl("roll", "finish", Self.merchant, "--yes").status == 0
        }
        try expectDecryption(of: "second", when: "after the old key was revoked")
        client.stop()
        #expect(client.failures == [])
        #expect(try roll()["state"] as? String == "finished")
        #expect(try decrypt("first").refusalCode == "keyRevoked")
    }

    @Test func `a roll by two commands succeeds, although the daemon is killed between any two steps`()
        throws
    {
        let first = try installation.certifiedKey(Self.merchant, "first")
        #expect(try installation.ctl("key", "promote", first).status == 0)
        // The validity of the next certificate must begin in a later second.
        Installation.waitForNextSecond()
        try killAndRestart()

        let started = try installation.ctlJSON("roll", "start", Self.merchant, "--csr", installation.path("second.csr"))
        let second = try #require(started["to"] as? String)
        #expect(started["state"] as? String == "started" && started["from"] as? String == first)
        try killAndRestart()
        #expect(try roll()["state"] as? String == "started")
        let again = try installation.ctlJSON("roll", "start", Self.merchant)
        #expect(again["rollId"] as? String == started["rollId"] as? String)

        try installation.apple(
            "issue", "--csr", installation.path("second.csr"), "--merchant", Self.merchant, "--out",
            installation.path("second.cer"))
        #expect(try installation.ctl("certificate", "upload", installation.path("second.cer")).status == 0)
        try killAndRestart()
        #expect(try roll()["state"] as? String == "certificateStored")
        try expectDecryption("before the switch")
        try wait(until: "promoted")
        try killAndRestart()
        let use = try installation.ctlJSON("key", "show", second)["use"] as? [String: Any]
        #expect((use?["decryptions"] as? [String: Any])?["count"] as? Int == 1, "\(String(describing: use))")

        try expectDecryption("after the switch")
        let early = try installation.ctl("roll", "finish", Self.merchant, "--yes")
        #expect(early.status == 1 && early.refusalCode == "rollNotQuiet", "\(early.error)")
        try wait(until: "quiet")
        try killAndRestart()
        let finished = try installation.ctl("roll", "finish", Self.merchant, "--yes")
        #expect(finished.status == 0, "\(finished.error)")
        try killAndRestart()
        #expect(try roll()["state"] as? String == "finished")
        #expect(try decrypt("second").status == 0)
        #expect(try decrypt("first").refusalCode == "keyRevoked")
        let keys = try #require(try installation.ctlJSON("key", "list", Self.merchant)["items"] as? [[String: Any]])
        #expect(
            keys.contains { $0["state"] as? String == "pending" }, "expected the key pair of the next roll: \(keys)")
    }

    @Test
    func `one command starts a roll for each merchant whose certificate expires soon, and a second run starts none`()
        throws
    {
        let names = (0..<12).map { "merchant.com.example.many\($0)" }
        let csv = try installation.write(
            "merchantIdentifier,targetActiveKeyPairs\n" + names.map { "\($0),1\n" }.joined(), "many.csv")
        let (out, certificates) = (installation.path("many-csr"), installation.path("many-cer"))
        try FileManager.default.createDirectory(atPath: certificates, withIntermediateDirectories: false)
        #expect(
            try installation.ctl("merchant", "import", csv, "--generate-keys", "--csr-directory", out).status == 0)
        for file in try FileManager.default.contentsOfDirectory(atPath: out) {
            let merchant = String(try #require(file.split(separator: "-").first))
            try installation.apple(
                "issue", "--csr", "\(out)/\(file)", "--merchant", merchant, "--out", "\(certificates)/\(file).cer")
        }
        #expect(try installation.ctl("certificate", "upload", certificates).status == 0)
        for name in names {
            let key = try #require((try installation.ctlJSON("key", "list", name)["items"] as? [[String: Any]])?.first)
            let hash = try #require(key["publicKeyHash"] as? String)
            #expect(try installation.ctl("key", "promote", hash).status == 0)
        }
        func start(within length: String) throws -> [String: Any] {
            try installation.ctlJSON(
                "roll", "start", "--ending-within", length, "--report", installation.path("rolls.jsonl"))
        }
        func openRolls() throws -> Int {
            try #require(try installation.ctlJSON("roll", "status")["items"] as? [Any]).count
        }
        #expect(try start(within: "1d")["done"] as? Int == 0)
        #expect(try openRolls() == 0)
        #expect(try start(within: "900d")["done"] as? Int == 12)
        #expect(try openRolls() == 12)
        // The times of rolls are stored in whole seconds.
        Installation.waitForNextSecond()
        #expect(try start(within: "900d")["unchanged"] as? Int == 12)
        #expect(try openRolls() == 12)
    }

    @Test func `onboarding writes one CSR for each key pair of the target, and repeating it generates none`() throws {
        let directory = installation.path("csrs")
        for _ in 0..<2 {
            let added = try installation.ctl(
                "merchant", "add", "merchant.com.example.three", "--target", "3", "--csr-directory", directory)
            #expect(added.status == 0, "\(added.error)")
            let files = try FileManager.default.contentsOfDirectory(atPath: directory)
            #expect(files.count == 3)
            for file in files {
                let checked = try Installation.run(
                    ["openssl", "req", "-in", "\(directory)/\(file)", "-noout", "-verify"])
                #expect(checked.status == 0, "\(checked.error)")
            }
        }
    }
}
