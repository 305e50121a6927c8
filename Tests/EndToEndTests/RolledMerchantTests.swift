import Foundation
import Testing

/// Real keys and tokens that Apple made: one merchant with three key pairs in use at once, one of them rolled.
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

    func decrypts(_ name: String) throws {
        let outcome = try installation.ctl(
            "token", "decrypt", "\(folder)/\(name).paymentData.json", "--unverified", "--raw")
        #expect(outcome.status == 0, "\(name): \(outcome.error)")
        #expect(try outcome.bytes == Data(contentsOf: URL(filePath: "\(folder)/\(name).expected.json")), "\(name)")
    }

    @Test func `the whole story of a rolled merchant holds on what Apple made, also after a restart`() throws {
        #expect(try installation.ctl("merchant", "add", Self.merchant).status == 0)
        var hashes: [String: String] = [:]
        for name in Self.names {
            let refused = try installation.ctl(
                "key", "import", Self.merchant, "--private-key", "\(folder)/\(name).key.pem", "--certificate",
                "\(folder)/\(name).cert.pem")
            #expect(refused.status == 1 && refused.error.contains("certificateExpired"), "\(refused.error)")
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
            for name in Self.names { try decrypts(name) }
        }

        #expect(try installation.ctl("key", "revoke", old, "--reason", "rolled", "--yes").status == 0)
        for restarts in [false, true] {
            if restarts { try installation.restart() }
            #expect(
                try installation.curl(installation.decryptorSocket, "/v1/keys/\(pathSpelling(old))").output == "410")
            let refused = try installation.ctl(
                "token", "decrypt", "\(folder)/ec-old.paymentData.json", "--unverified", "--raw")
            #expect(refused.status == 1 && refused.bytes.isEmpty)
            #expect(refused.error.contains("revoked") && refused.error.contains(old), "\(refused.error)")
            try decrypts("ec-new")
            try decrypts("rsa")
        }

        #expect(try installation.ctl("key", "restore", String(old.prefix(8))).status == 0)
        for restarts in [false, true] {
            if restarts { try installation.restart(SIGTERM) }
            for name in Self.names { try decrypts(name) }
        }
    }

    @Test func `a key of one merchant is refused for another`() throws {
        for merchant in [Self.merchant, "merchant.com.other"] { _ = try installation.ctl("merchant", "add", merchant) }
        let arguments = ["--private-key", "\(folder)/ec-old.key.pem", "--certificate", "\(folder)/ec-old.cert.pem"]
        let outcome = try installation.ctl(
            "key", "import", "merchant.com.other", arguments[0], arguments[1], arguments[2], arguments[3],
            "--allow-expired")
        #expect(outcome.status == 1)
        #expect(outcome.error.contains("certificateForAnotherMerchant"), "\(outcome.error)")
    }
}
