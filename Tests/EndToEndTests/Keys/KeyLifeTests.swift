import Foundation
import Testing

/// The life of a key pair, with the real programs.
@Suite struct KeyLifeTests {
    static let merchant = "merchant.com.example.story"

    let installation: Installation

    init() throws {
        installation = try Installation()
        try installation.apple("init")
        try installation.start()
        #expect(try installation.ctl("merchant", "add", Self.merchant, "--name", "Story").status == 0)
    }

    private func state(_ hash: String) throws -> String? {
        try installation.ctlJSON("key", "show", hash)["state"] as? String
    }

    /// The status of resolving a key.
    private func resolve(_ hash: String) throws -> String {
        try installation.curl(installation.decryptorSocket, "/v1/keys/\(pathSpelling(hash))").output
    }

    @Test func `each step from pending to destroyed takes effect for decryptors at once`() throws {
        let pending = try installation.ctlJSON("key", "generate", Self.merchant)
        let abandoned = try #require(pending["publicKeyHash"] as? String)
        #expect(try resolve(abandoned) == "404")
        #expect(try installation.ctl("key", "promote", abandoned).refusalCode == "keyWithoutCertificate")

        let first = try installation.certifiedKey(Self.merchant, "first")
        #expect(try state(first) == "standby")
        #expect(try resolve(first) == "200")
        let second = try installation.certifiedKey(Self.merchant, "second")
        #expect(try installation.ctl("key", "promote", first).status == 0)
        #expect(try installation.ctl("key", "promote", second).status == 0)
        #expect(try state(first) == "retiring")
        #expect(try state(second) == "current")
        #expect(try installation.ctl("key", "promote", first).status == 0)
        #expect(try state(second) == "retiring")
        #expect(try installation.ctl("key", "promote", second).status == 0)

        let dry = try installation.ctl("key", "revoke", first, "--reason", "rolled", "--dry-run")
        #expect(dry.status == 0)
        #expect(try state(first) == "retiring")
        let unconfirmed = try installation.ctl("key", "revoke", first, "--reason", "rolled")
        #expect(unconfirmed.status == 1 && unconfirmed.error.contains("--yes"), "\(unconfirmed.error)")
        #expect(try state(first) == "retiring")
        #expect(try installation.ctl("key", "revoke", first, "--reason", "rolled", "--yes").status == 0)
        #expect(try resolve(first) == "410")
        #expect(try installation.ctl("key", "restore", first).status == 0)
        #expect(try state(first) == "retiring")
        #expect(try resolve(first) == "200")

        let last = try installation.ctl("key", "revoke", second, "--reason", "r", "--yes")
        #expect(last.status == 0)
        let refused = try installation.ctl("key", "revoke", first, "--reason", "r", "--yes")
        #expect(refused.status == 1 && refused.refusalCode == "lastActiveKey", "\(refused.error)")
        #expect(try installation.ctl("key", "revoke", first, "--reason", "compromised", "--yes").status == 0)

        #expect(try installation.ctl("key", "destroy", first, "--yes").status == 0)
        #expect(try state(first) == "revoked")
        #expect(try installation.ctl("key", "destroy", first, "--after", "0s", "--yes").status == 0)
        #expect(try state(first) == "destroyed")
        #expect(try resolve(first) == "410")
        #expect(try installation.ctl("key", "restore", first).refusalCode == "keyDestroyed")
    }

    @Test func `a second upload of the same certificate changes nothing`() throws {
        let hash = try installation.certifiedKey(Self.merchant, "key")
        #expect(try installation.ctl("key", "promote", hash).status == 0)
        #expect(try installation.ctl("certificate", "upload", installation.path("key.cer")).status == 0)
        let shown = try installation.ctlJSON("key", "show", hash)
        #expect(shown["state"] as? String == "current")
        #expect((shown["certificates"] as? [Any])?.count == 1)
    }

    @Test func `an identity key is unknown on the decryptor socket`() throws {
        let hash = try installation.certifiedKey(Self.merchant, "identity", "--purpose", "identity")
        #expect(try state(hash) == "standby")
        #expect(try resolve(hash) == "404")
        let body = #"{"wrappedKey":"\#(Data(repeating: 1, count: 256).base64EncodedString())"}"#
        let outcome = try installation.curl(
            installation.decryptorSocket, "/v1/keys/\(pathSpelling(hash))/symmetric-key", "-d", body)
        #expect(outcome.output == "404")
    }

    @Test func `the export of a private key needs its permit`() throws {
        let hash = try installation.certifiedKey(Self.merchant, "key")
        let outcome = try installation.curlBody(
            installation.decryptorSocket, "/v1/keys/\(pathSpelling(hash))?include=privateKey")
        #expect(try outcome.text("code") == "forbidden" && outcome.text("detail").contains("exportPrivateKey"))
        #expect(!outcome.output.contains("PRIVATE KEY"))
    }

    @Test func `an export with the permit returns the private key and is audited`() throws {
        installation.stop()
        let config = try installation.write(
            "callers:\n  - uid: \(getuid())\n    permits: [administer, read, resolve, exportPrivateKey]\n",
            "export.yaml")
        try installation.start(config: config)
        let hash = try installation.certifiedKey(Self.merchant, "key")
        let answer = try installation.curlBody(
            installation.decryptorSocket, "/v1/keys/\(pathSpelling(hash))?include=privateKey")
        let pem = try answer.text("privateKey")
        let key = try Installation.run(["openssl", "pkey", "-pubout", "-outform", "DER"], input: pem)
        let exportedAt = try installation.ctlJSON("key", "show", hash)["exportedAt"]
        #expect(key.status == 0)
        #expect(exportedAt != nil)
        #expect(try installation.auditRecords("privateKeyExported").count == 1)
    }

    @Test(arguments: [("EC_v1", "mint"), ("RSA_v1", "mint")])
    func `a minted token decrypts on the socket only with the expected merchant and transaction`(
        algorithm: String, name: String
    ) throws {
        _ = try installation.certifiedKey(Self.merchant, name, "--algorithm", algorithm)
        try installation.apple(
            "mint-token", "--certificate", installation.path("\(name).cer"), "--amount", "4242", "--application-data",
            "order-1", "--out", installation.path("token.json"))
        let token = installation.path("token.json")
        // The token decrypts if no application data is expected, and fails if other data is expected.
        #expect(try installation.ctl("token", "decrypt", token, "--unverified").status == 0)
        let (right, wrong) = (try installation.write("order-1", "right"), try installation.write("order-2", "wrong"))
        #expect(
            try installation.ctl("token", "decrypt", token, "--unverified", "--application-data", right).status == 0)
        let mismatch = try installation.ctl("token", "decrypt", token, "--unverified", "--application-data", wrong)
        #expect(mismatch.status == 1 && mismatch.refusalCode == "tokenMismatch", "\(mismatch.error)")

        let paymentData = try #require(
            try JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: token))) as? [String: Any])[
                "paymentData"]
        func body(_ expected: [String: Any]) throws -> String {
            let object: [String: Any] = [
                "paymentData": try #require(paymentData), "expected": expected, "verify": false,
            ]
            return try installation.write(
                String(decoding: JSONSerialization.data(withJSONObject: object), as: UTF8.self), "body.json")
        }
        let data = Data("order-1".utf8).base64EncodedString()
        func decrypt(_ expected: [String: Any]) throws -> String {
            try installation.curl(
                installation.decryptorSocket, "/v1/payment-tokens/decrypt", "--data-binary", "@" + (try body(expected))
            ).output
        }
        #expect(
            try decrypt([
                "merchantIdentifier": Self.merchant, "applicationData": data, "transactionAmount": 4242,
                "currencyCode": "840",
            ]) == "200")
        #expect(
            try decrypt(["merchantIdentifier": Self.merchant, "applicationData": data, "transactionAmount": "4243"])
                == "422")
        #expect(
            try decrypt(["merchantIdentifier": Self.merchant, "applicationData": data, "currencyCode": "978"]) == "422")
        #expect(try decrypt(["merchantIdentifier": "merchant.com.other", "applicationData": data]) == "422")
        #expect(try decrypt(["applicationData": data]) == "400")
    }
}
