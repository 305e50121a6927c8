import Foundation
import Testing

/// Real certificates and tokens from Apple: one merchant with three active key pairs, one of which is revoked and restored.
@Suite(.enabled(if: Installation.fixtures != nil, "MERCHANTKEYD_FIXTURES is not set"))
struct RolledMerchantTests {
    static let merchant = "merchant.basistheory.sales"
    static let names = ["ec-old", "ec-new", "rsa"]

    let installation: Installation
    let folder: String

    init() throws {
        folder = try #require(Installation.fixtures) + "/rolled-merchant"
        installation = try Installation()
        try installation.start()
    }

    private func expectDecryption(_ name: String) throws {
        let outcome = try installation.ctl(
            "token", "decrypt", "\(folder)/\(name).paymentData.json", "--unverified", "--raw")
        #expect(outcome.status == 0, "\(name): \(outcome.error)")
        #expect(try outcome.bytes == Data(contentsOf: URL(filePath: "\(folder)/\(name).expected.json")), "\(name)")
    }

    @Test
    func `import, decryption, revocation and restore work with Apple's certificates and tokens, also after a restart`()
        throws
    {
        #expect(try installation.ctl("merchant", "add", Self.merchant).status == 0)
        var hashes: [String: String] = [:]
        for name in Self.names {
            let refused = try installation.ctl(
                "key", "import", Self.merchant, "--private-key", "\(folder)/\(name).key.pem", "--certificate",
                "\(folder)/\(name).cert.pem")
            #expect(refused.status == 1 && refused.refusalCode == "certificateExpired", "\(refused.error)")
            let imported = try installation.ctlJSON(
                "key", "import", Self.merchant, "--private-key", "\(folder)/\(name).key.pem", "--certificate",
                "\(folder)/\(name).cert.pem", "--allow-expired")
            hashes[name] = imported["publicKeyHash"] as? String
            #expect(imported["state"] as? String == "standby")
        }
        #expect(hashes["ec-old"] == "aXryfzzhfHFLCl+guEkcYpVd1R+mPYEmmeu1N4aR2Ls=")
        #expect(hashes["ec-new"] == "cA7n/gpsa5yxOZ/wECCXUqU+hrre+Sjq4RxEwAIqWGM=")
        #expect(hashes["rsa"] == "eJnBcJm15tPVs9R6nI3lUdWnG0VJGAPpivDcn84I+XA=")
        let old = try #require(hashes["ec-old"])

        for restarts in [false, true] {
            if restarts { try installation.restart() }
            for name in Self.names { try expectDecryption(name) }
        }

        #expect(try installation.ctl("key", "revoke", old, "--reason", "rolled", "--yes").status == 0)
        for restarts in [false, true] {
            if restarts { try installation.restart() }
            #expect(
                try installation.curl(installation.decryptorSocket, "/v1/keys/\(pathSpelling(old))").output == "410")
            let refused = try installation.ctl(
                "token", "decrypt", "\(folder)/ec-old.paymentData.json", "--unverified", "--raw")
            #expect(refused.status == 1 && refused.bytes.isEmpty)
            #expect(refused.refusalCode == "keyRevoked" && refused.error.contains(old), "\(refused.error)")
            try expectDecryption("ec-new")
            try expectDecryption("rsa")
        }

        #expect(try installation.ctl("key", "restore", String(old.prefix(8))).status == 0)
        for restarts in [false, true] {
            if restarts { try installation.restart(SIGTERM) }
            for name in Self.names { try expectDecryption(name) }
        }
    }

    @Test func `each of Apple's tokens verifies at its signing time, and not an hour later`() throws {
        let tokens = [
            ("\(folder)/ec-old.paymentData.json", "2023-03-20T20:46:55Z", "2023-03-20T21:46:55Z"),
            ("\(folder)/ec-new.paymentData.json", "2023-09-13T13:49:38Z", "2023-09-13T14:49:38Z"),
            ("\(folder)/rsa.paymentData.json", "2024-01-08T17:54:44Z", "2024-01-08T18:54:44Z"),
            ("\(folder)/../verify-only/ec-2024.paymentData.json", "2024-10-30T22:28:45Z", "2024-10-30T23:28:45Z"),
        ]
        for (file, signed, later) in tokens {
            let verified = try installation.ctl("token", "verify", file, "--at", signed)
            #expect(verified.status == 0, "\(verified.output) \(verified.error)")
            let late = try installation.ctl("token", "verify", file, "--at", later)
            #expect(late.status == 1 && late.output.contains("signingTime"), "\(late.output) \(late.error)")
        }
        #expect(try installation.ctl("merchant", "add", Self.merchant).status == 0)
        for (name, (file, signed, later)) in zip(Self.names, tokens) {
            let imported = try installation.ctl(
                "key", "import", Self.merchant, "--private-key", "\(folder)/\(name).key.pem", "--certificate",
                "\(folder)/\(name).cert.pem", "--allow-expired")
            #expect(imported.status == 0, "\(imported.error)")
            let outcome = try installation.ctl(
                "token", "decrypt", file, "--merchant", Self.merchant, "--at", signed, "--raw")
            #expect(
                try outcome.bytes == Data(contentsOf: URL(filePath: "\(folder)/\(name).expected.json")),
                "\(outcome.error)")
            let late = try installation.ctl(
                "token", "decrypt", file, "--merchant", Self.merchant, "--at", later, "--raw")
            #expect(late.status == 1 && late.bytes.isEmpty && late.refusalCode == "tokenNotVerified", "\(late.error)")
            let now = try installation.ctl("token", "decrypt", file, "--merchant", Self.merchant)
            #expect(now.status == 1 && now.bytes.isEmpty && now.refusalCode == "tokenNotVerified", "\(now.error)")
        }
    }

    @Test func `a key pair with the certificate of another merchant is refused`() throws {
        for merchant in [Self.merchant, "merchant.com.other"] { _ = try installation.ctl("merchant", "add", merchant) }
        let arguments = ["--private-key", "\(folder)/ec-old.key.pem", "--certificate", "\(folder)/ec-old.cert.pem"]
        let outcome = try installation.ctl(
            "key", "import", "merchant.com.other", arguments[0], arguments[1], arguments[2], arguments[3],
            "--allow-expired")
        #expect(outcome.status == 1)
        #expect(outcome.refusalCode == "certificateForAnotherMerchant", "\(outcome.error)")
    }
}
