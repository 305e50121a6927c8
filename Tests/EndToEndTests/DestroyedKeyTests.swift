import Foundation
import Testing

/// A destroyed private key is nowhere any more: not in the daemon's memory, its database, its log or a backup made since.
@Suite(.enabled(if: MemorySearch.isPossible, "reading another process's memory takes root"))
struct DestroyedKeyTests {
    private static let merchant = "merchant.com.destroyed"
    let installation: Installation

    init() throws {
        installation = try Installation()
        try installation.apple("init")
    }

    /// A key pair made elsewhere, with its certificate: its private key as PKCS#8 DER.
    private func keyMadeElsewhere(_ name: String) throws -> [UInt8] {
        let key = installation.path("\(name).pem")
        let made = try Installation.run([
            "openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", key,
        ])
        try #require(made.status == 0, "\(made.error)")
        let request = try Installation.run([
            "openssl", "req", "-new", "-key", key, "-subj", "/CN=elsewhere", "-out", installation.path("\(name).csr"),
        ])
        try #require(request.status == 0, "\(request.error)")
        try installation.apple(
            "issue", "--csr", installation.path("\(name).csr"), "--merchant", Self.merchant, "--out",
            installation.path("\(name).cer"))
        return Array(try Installation.run(["openssl", "pkey", "-in", key, "-outform", "DER"]).bytes)
    }

    /// The private number inside.
    private func scalar(_ der: [UInt8]) throws -> [UInt8] {
        // ECPrivateKey, RFC 5915: version 1, then an octet string of 32 bytes.
        let beginning = try #require(der.firstRange(of: [0x02, 0x01, 0x01, 0x04, 0x20])?.upperBound)
        return Array(der[beginning..<beginning + 32])
    }

    /// The bytes that the database holds in the key's place.
    private func sealed(_ hash: String) throws -> [UInt8] {
        let hex = try #require(Data(base64Encoded: hash)).map { String(format: "%02x", $0) }.joined()
        let found = try installation.sql(
            """
            SELECT hex(s.sealed_bytes) FROM sealed_private_keys s JOIN key_pairs k ON k.id = s.id
            WHERE hex(k.public_key_hash) = upper('\(hex)')
            """)
        let digits = Array(found)
        return try stride(from: 0, to: digits.count - 1, by: 2).map {
            try #require(UInt8(String(digits[$0...$0 + 1]), radix: 16))
        }
    }

    private func backup(_ name: String) throws -> String {
        let made = try installation.ctl("backup", "create", installation.path(name))
        #expect(made.status == 0, "\(made.output) \(made.error)")
        return installation.path(name)
    }

    @Test(arguments: ["0s", "2s"])
    func `after its destruction a private key is in no memory, no file and no new backup`(after: String) throws {
        let config = try installation.write(
            "callers:\n  - uid: \(getuid())\n    permits: [administer, read, resolve, symmetricKey, exportPrivateKey]\n",
            "c.yaml")
        try installation.start(config: config)
        #expect(try installation.ctl("merchant", "add", Self.merchant).status == 0)
        let der = try keyMadeElsewhere("k")
        let imported = try installation.ctl(
            "key", "import", Self.merchant, "--private-key", installation.path("k.pem"), "--certificate",
            installation.path("k.cer"))
        try #require(imported.status == 0, "\(imported.error)")
        let keys = try installation.ctlJSON("key", "list", Self.merchant)["items"] as? [[String: Any]]
        let hash = try #require(keys?.first?["publicKeyHash"] as? String)
        let exported = try installation.curlBody(
            installation.decryptorSocket, "/v1/keys/\(pathSpelling(hash))?include=privateKey")
        #expect(exported.output.contains("PRIVATE KEY"))

        let process = try #require(installation.process)
        var plain = MemorySearch()
        let number = try scalar(der)
        plain.add("the private number", number)
        // As machine words, which is how libraries compute with it.
        plain.add("the private number backwards", number.reversed())
        var hashes = [hash]
        // A long row after a short one, a short one after a long one, and a long one as the last that is stored.
        for algorithm in ["RSA_v1", "EC_v1", "RSA_v1"] {
            let made = try installation.ctlJSON("key", "generate", Self.merchant, "--algorithm", algorithm)
            hashes.append(try #require(made["publicKeyHash"] as? String))
        }
        var seal = MemorySearch()
        for hash in hashes {
            let bytes = try sealed(hash)
            #expect(bytes.count > 32)
            seal.add("the sealed key \(hash)", bytes)
        }
        // In use: the search can find what it looks for. The export took it from the daemon's unsealed keys.
        #expect(try installation.uses(hash) == ["200", "200"])
        #expect(try !plain.findings(inMemoryOf: process).isEmpty)
        #expect(try !seal.findings(inMemoryOf: process).isEmpty)
        #expect(try !seal.findings(inFilesBelow: installation.path("state")).isEmpty)
        #expect(try !seal.findings(inFile: try backup("before")).isEmpty)
        #expect(try plain.findings(inFilesBelow: installation.path("state")).isEmpty)

        for hash in hashes {
            let revoked = try installation.ctl("key", "revoke", hash, "--reason", "compromised", "--yes")
            #expect(revoked.status == 0, "\(revoked.error)")
            let destroyed = try installation.ctl("key", "destroy", hash, "--after", after, "--yes")
            #expect(destroyed.status == 0, "\(destroyed.error)")
        }
        func areDestroyed() throws -> Bool {
            try hashes.allSatisfy { try installation.ctlJSON("key", "show", $0)["state"] as? String == "destroyed" }
        }
        // What is due later is done by a look every minute.
        for _ in 0..<(after == "0s" ? 1 : 140) where try !areDestroyed() { Thread.sleep(forTimeInterval: 0.5) }
        try #require(try areDestroyed())
        #expect(try installation.uses(hash) == ["410", "410"])
        let fresh = try backup("after")
        for search in [plain, seal] {
            #expect(try search.findings(inMemoryOf: process) == [])
            #expect(try search.findings(inFilesBelow: installation.path("state")) == [])
            #expect(try search.findings(inFile: fresh) == [])
        }
        #expect(try plain.findings(inFile: installation.path("before")) == [])
        installation.stop()
        for search in [plain, seal] { #expect(try search.findings(inFilesBelow: installation.path("state")) == []) }
    }
}
