import Foundation
import MerchantTestSupport
import Testing

/// A destroyed private key is erased: it is not in the daemon's memory, its state directory or a later backup.
@Suite(.onlyOnSQLite, .enabled(if: MemorySearch.isPossible, "only root can read another process's memory"))
struct DestroyedKeyTests {
    private static let merchant = "merchant.com.destroyed"
    let installation: Installation

    init() throws {
        installation = try Installation()
        try installation.apple("init")
    }

    /// Generates a key pair outside the daemon, with its certificate: `NAME.pem` and `NAME.cer`.
    private func generateKeyOutside(_ name: String, _ options: String...) throws {
        let key = installation.path("\(name).pem")
        try openssl(["genpkey", "-out", key] + options)
        try openssl(["req", "-new", "-key", key, "-subj", "/CN=outside", "-out", installation.path("\(name).csr")])
        try installation.apple(
            "issue", "--csr", installation.path("\(name).csr"), "--merchant", Self.merchant, "--out",
            installation.path("\(name).cer"))
    }

    @discardableResult
    private func openssl(_ arguments: [String]) throws -> Installation.Outcome {
        let outcome = try Installation.run(["openssl"] + arguments)
        try #require(outcome.status == 0, "\(arguments): \(outcome.error)")
        return outcome
    }

    /// Imports a key pair and exports it once.
    ///
    /// - Returns: its publicKeyHash.
    private func importAndExport(_ name: String, from file: String, _ options: String...) throws -> String {
        let imported = try Installation.run(
            [
                "\(Installation.programs)/merchantkeyctl", "--socket", installation.adminSocket, "--output", "json",
                "key", "import", Self.merchant, "--private-key", file, "--certificate",
                installation.path("\(name).cer"),
            ] + options)
        try #require(imported.status == 0, "\(imported.error)")
        let hash = try imported.text("publicKeyHash")
        let exported = try installation.curlBody(
            installation.decryptorSocket, "/v1/keys/\(pathSpelling(hash))?include=privateKey")
        #expect(try exported.json()["privateKey"] is String)
        return hash
    }

    /// The private numbers in a key file, by the names that OpenSSL prints.
    private func numbers(_ name: String, _ names: Set<String>) throws -> [String: [UInt8]] {
        let text = try openssl(["pkey", "-in", installation.path("\(name).pem"), "-noout", "-text"]).output
        var found: [String: [UInt8]] = [:]
        var current = ""
        for line in text.split(separator: "\n") {
            if line.first != " " {
                current = String(line.prefix { $0 != ":" })
            } else if names.contains(current) {
                found[current, default: []] += line.split { $0 == ":" || $0 == " " }.compactMap { UInt8($0, radix: 16) }
            }
        }
        try #require(Set(found.keys) == names, "\(text)")
        // A leading zero byte marks a number that is not negative.
        return found.mapValues { Array($0.drop { $0 == 0 }) }
    }

    /// A search for the private parts of a key pair that was generated outside.
    private func search(for name: String, _ names: Set<String>) throws -> MemorySearch {
        var search = MemorySearch()
        for (number, bytes) in try numbers(name, names) {
            search.add("\(name): \(number)", bytes)
            // Libraries keep the number as little-endian machine words.
            search.add("\(name): \(number) backwards", bytes.reversed())
        }
        // The PEM file as an import sends it, without the beginning and end that all such files share.
        let file = Data(
            try Data(contentsOf: URL(filePath: installation.path("\(name).pem"))).base64EncodedString().utf8)
        search.add("\(name): the file", file.dropFirst(96).dropLast(48))
        return search
    }

    /// The sealed private key in the database.
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
        let created = try installation.ctl("backup", "create", installation.path(name))
        #expect(created.status == 0, "\(created.output) \(created.error)")
        return installation.path(name)
    }

    @Test func `a private key that is destroyed at once is erased from memory, files and later backups`() throws {
        try expectErasure(after: "0s", form: "PEM")
    }

    /// Slow, because the daemon destroys due keys once a minute.
    @Test(.tags(.slow), .skippedInQuickRuns)
    func `a private key that is destroyed when it is due is erased from memory, files and later backups`() throws {
        try expectErasure(after: "2s", form: "PKCS#12")
    }

    private func expectErasure(after: String, form: String) throws {
        let config = try installation.write(
            "callers:\n  - uid: \(getuid())\n    permits: [administer, read, resolve, symmetricKey, exportPrivateKey]\n",
            "c.yaml")
        try installation.start(config: config)
        #expect(try installation.ctl("merchant", "add", Self.merchant).status == 0)
        try generateKeyOutside("ec", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256")
        try generateKeyOutside("rsa", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048")
        let file = installation.path(form == "PEM" ? "rsa.pem" : "rsa.p12")
        if form != "PEM" {
            try openssl([
                "pkcs12", "-export", "-nocerts", "-inkey", installation.path("rsa.pem"), "-passout", "pass:open",
                "-out", file,
            ])
        }
        // The longest key is first: code that runs once, such as an initialization, then handles this key.
        let rsa = try importAndExport(
            "rsa", from: file, "--passphrase-file", try installation.write("open\n", "passphrase"))
        let process = try #require(installation.process)
        let rsaSearch = try search(
            for: "rsa", ["privateExponent", "prime1", "prime2", "exponent1", "exponent2", "coefficient"])
        // Neither an import nor an export leaves an unsealed key in memory. Searched now, before other work overwrites traces.
        #expect(try rsaSearch.findings(inMemoryOf: process) == [])
        let ec = try importAndExport("ec", from: installation.path("ec.pem"))
        let plainSearches = [rsaSearch, try search(for: "ec", ["priv"])]
        var hashes = [rsa, ec]
        // The rows alternate between long and short, and the last one is long.
        for algorithm in ["RSA_v1", "EC_v1", "RSA_v1"] {
            let generated = try installation.ctlJSON("key", "generate", Self.merchant, "--algorithm", algorithm)
            hashes.append(try #require(generated["publicKeyHash"] as? String))
        }
        var sealSearch = MemorySearch()
        for hash in hashes {
            let bytes = try sealed(hash)
            #expect(bytes.count > 32)
            sealSearch.add("the sealed key \(hash)", bytes)
        }
        // While the keys are in use, the searches find them.
        #expect(try installation.uses(ec) == ["200", "200"])
        let wrapped = #"{"wrappedKey":"\#(Data(repeating: 1, count: 256).base64EncodedString())"}"#
        #expect(
            try installation.curl(
                installation.decryptorSocket, "/v1/keys/\(pathSpelling(rsa))/symmetric-key", "-d", wrapped
            ).output == "422")
        for search in plainSearches { #expect(try !search.findings(inMemoryOf: process).isEmpty) }
        #expect(try !sealSearch.findings(inMemoryOf: process).isEmpty)
        #expect(try !sealSearch.findings(inFilesBelow: installation.path("state")).isEmpty)
        #expect(try !sealSearch.findings(inFile: try backup("before")).isEmpty)
        for search in plainSearches { #expect(try search.findings(inFilesBelow: installation.path("state")) == []) }

        for hash in hashes {
            let revoked = try installation.ctl("key", "revoke", hash, "--reason", "compromised", "--yes")
            #expect(revoked.status == 0, "\(revoked.error)")
            let destroyed = try installation.ctl("key", "destroy", hash, "--after", after, "--yes")
            #expect(destroyed.status == 0, "\(destroyed.error)")
        }
        func areDestroyed() throws -> Bool {
            try hashes.allSatisfy { try installation.ctlJSON("key", "show", $0)["state"] as? String == "destroyed" }
        }
        if after != "0s" {
            try installation.eventually("the keys are destroyed", within: .seconds(90), areDestroyed)
        }
        try #require(try areDestroyed())
        for hash in [rsa, ec] { #expect(try installation.uses(hash) == ["410", "410"]) }
        let later = try backup("after")
        for search in plainSearches + [sealSearch] {
            #expect(try search.findings(inMemoryOf: process) == [])
            #expect(try search.findings(inFilesBelow: installation.path("state")) == [])
            #expect(try search.findings(inFile: later) == [])
        }
        for search in plainSearches { #expect(try search.findings(inFile: installation.path("before")) == []) }
        installation.stop()
        for search in plainSearches + [sealSearch] {
            #expect(try search.findings(inFilesBelow: installation.path("state")) == [])
        }
    }
}
