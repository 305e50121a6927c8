import Foundation
import Testing

/// `merchantkeyctl provisioning` and the sandbox's broker, without a daemon.
@Suite struct ProvisioningCommandTests {
    private static let number = "5555555555554444"

    /// The programs and a directory for files. No daemon is started.
    let installation: Installation

    init() throws {
        installation = try Installation()
        try installation.apple("init")
        try installation.apple(
            "provisioning-certificates", "--not-before", "1h", "--request", installation.path("wallet.json"))
    }

    private func path(_ name: String) -> String { installation.path(name) }

    /// The options for the sandbox's certificates.
    private var sandbox: [String] { ["--environment", "sandbox", "--root", path("apple/root.pem")] }

    private func ctl(_ arguments: [String]) throws -> Installation.Outcome {
        try Installation.run(["\(Installation.programs)/merchantkeyctl", "provisioning"] + arguments)
    }

    private func json(_ name: String) throws -> [String: Any] {
        let object = try JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: path(name))))
        return try #require(object as? [String: Any])
    }

    /// Writes a request as an issuer's server sends it, and returns its path.
    private func request(_ change: (inout [String: Any]) -> Void = { _ in }) throws -> String {
        var request = try json("wallet.json")
        request["configuration"] = 1
        request["network"] = "Mastercard"
        request["activationData"] = "T1RQ"
        request["card"] = [
            "primaryAccountNumber": Self.number, "expiration": "12/49", "name": "Alex Example", "productType": "MCD",
        ]
        change(&request)
        try JSONSerialization.data(withJSONObject: request).write(to: URL(filePath: path("request.json")))
        return path("request.json")
    }

    private func broker(_ file: String, _ options: String...) throws -> Installation.Outcome {
        try Installation.run(
            ["\(Installation.programs)/applepay-sandbox", "provision", file, "--directory", path("apple")] + options)
    }

    /// The outcome of each check of `verify-certificates`, by name.
    private func checks(_ outcome: Installation.Outcome) throws -> [String: String] {
        var found: [String: String] = [:]
        for check in Installation.items(try outcome.json()["checks"]) {
            found[check["check"] as? String ?? ""] = check["outcome"] as? String
        }
        return found
    }

    @Test func `the broker accepts an encrypted card, inspect finds no fault in it, and neither shows card data`()
        throws
    {
        let encrypted = try ctl(["encrypt", request(), "--out", path("pass.json")] + sandbox)
        try #require(encrypted.status == 0, "\(encrypted.error)")
        let pass = try json("pass.json")
        #expect(pass["activationData"] as? String == "T1RQ")
        let nonce = try #require(try json("wallet.json")["nonce"] as? String)
        let accepted = try broker(path("pass.json"), "--network", "Mastercard", "--nonce", nonce)
        #expect(accepted.status == 0 && accepted.output.hasPrefix("200"), "\(accepted.output)")
        let refused = try broker(path("pass.json"), "--nonce", "00000000")
        #expect(refused.status == 1 && refused.output.hasPrefix("500 Broker Service Response exception\nnonceMismatch"))
        let key = path("apple/provisioning-leaf.key.pem")
        let inspected = try ctl(["inspect", path("pass.json"), "--sandbox-key", key, "--output", "json"])
        #expect(inspected.status == 0, "\(inspected.output)")
        #expect(Installation.items(try inspected.json()["findings"]).isEmpty)
        for outcome in [encrypted, accepted, refused, inspected] {
            #expect(!outcome.output.contains(Self.number) && !outcome.error.contains(Self.number))
        }
    }

    @Test func `inspect names the fault of an encrypted card, and has exit status 1`() throws {
        let encrypted = try ctl(["encrypt", request()] + sandbox)
        var pass = try encrypted.json().compactMapValues { $0 as? String }
        pass["encryptedPassData"] = pass["encryptedPassData"].map { Data($0.utf8).base64EncodedString() }
        try JSONSerialization.data(withJSONObject: pass).write(to: URL(filePath: path("twice.json")))
        let inspected = try ctl(["inspect", path("twice.json"), "--output", "json"])
        let codes = Installation.items(try inspected.json()["findings"]).map { $0["code"] as? String }
        #expect(inspected.status == 1 && codes == ["base64Twice"])
    }

    @Test func `verify-certificates accepts DER, PEM, Base64, JSON and both orders, and reports each check`() throws {
        let (leaf, subCA) = (path("apple/provisioning-leaf.pem"), path("apple/provisioning-sub-ca.pem"))
        let der = try Installation.run(["openssl", "x509", "-in", leaf, "-outform", "DER", "-out", path("leaf.cer")])
        try #require(der.status == 0, "\(der.error)")
        let base64 = try Data(contentsOf: URL(filePath: path("leaf.cer"))).base64EncodedString()
        let forms = [
            [leaf, subCA], [subCA, leaf], [path("leaf.cer"), subCA], [path("wallet.json")],
            [try installation.write(base64 + "\n", "leaf.b64"), subCA],
        ]
        for files in forms {
            let outcome = try ctl(["verify-certificates"] + files + sandbox + ["--output", "json"])
            #expect(outcome.status == 0, "\(outcome.output) \(outcome.error)")
            #expect(try Set(checks(outcome).values) == ["passed"])
            #expect(try outcome.json()["swapped"] as? Bool == (files == [subCA, leaf]))
        }
        let table = try ctl(["verify-certificates", leaf, subCA] + sandbox)
        #expect(table.status == 0 && table.output.contains("marker") && table.output.contains("validityPeriods"))
    }

    @Test func `verify-certificates names the checks that fail, and has exit status 1`() throws {
        let verify = ["verify-certificates", path("wallet.json"), "--output", "json"]
        let production = try ctl(verify + ["--root", path("apple/root.pem")])
        #expect(production.status == 1)
        #expect(try checks(production)["identity"] == "failed")
        #expect(try checks(production)["leafSignature"] == "passed")
        let untrusted = try ctl(verify + ["--environment", "sandbox"])
        #expect(try untrusted.status == 1 && checks(untrusted)["subCASignature"] == "failed")
        let expired = try ctl(verify + sandbox + ["--at", "2099-01-01T00:00:00Z"])
        #expect(try expired.status == 1 && checks(expired)["validityPeriods"] == "failed")
        let ignored = try ctl(verify + sandbox + ["--at", "2099-01-01T00:00:00Z", "--ignore-validity"])
        #expect(try ignored.status == 0 && checks(ignored)["validityPeriods"] == "notChecked")
        let single = try ctl(["verify-certificates", path("apple/provisioning-leaf.pem")] + sandbox)
        #expect(single.status == 1 && single.error.contains("wrongCertificateCount"))
    }

    @Test func `a trace has every value, only its owner can read it, and no file is overwritten`() throws {
        let arguments = try ["encrypt", request(), "--trace", path("trace")] + sandbox
        let encrypted = try ctl(arguments)
        try #require(encrypted.status == 0, "\(encrypted.error)")
        let attributes = try FileManager.default.attributesOfItem(atPath: path("trace"))
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        var trace: [String: String] = [:]
        for line in try String(contentsOfFile: path("trace"), encoding: .utf8).split(separator: "\n") {
            let parts = line.components(separatedBy: ": ")
            trace[parts[0]] = parts.last
        }
        let sealed = try #require(Data(base64Encoded: encrypted.text("encryptedPassData")))
        #expect(trace["encryptedPassData"] == sealed.map { String(format: "%02x", $0) }.joined())
        let digits = Self.number.utf8.map { String(format: "%02x", $0) }.joined()
        #expect(trace["plaintext"]?.contains(digits) == true)
        #expect(trace["sharedSecret"]?.count == 64 && trace["symmetricKey"]?.count == 64)
        let again = try ctl(arguments)
        #expect(again.status == 1 && again.output.isEmpty)
    }

    @Test func `a trace is refused outside the sandbox environment`() throws {
        let refused = try ctl(["encrypt", request(), "--trace", path("trace"), "--root", path("apple/root.pem")])
        #expect(refused.status == 2)
        #expect(!FileManager.default.fileExists(atPath: path("trace")))
    }

    @Test func `the refusal of a card names every fault and contains no card data`() throws {
        let wrong = "5555555555554445"
        let card = [
            "primaryAccountNumber": wrong, "expiration": "13/30", "name": "Alex Example", "productType": "MCD",
        ]
        let refused = try ctl(["encrypt", request { $0["card"] = card }] + sandbox)
        #expect(refused.status == 1 && refused.output.isEmpty)
        #expect(refused.error.contains("cardNumberCheckDigit") && refused.error.contains("expirationMonth"))
        #expect(!refused.error.contains(wrong) && !refused.error.contains("Alex"))
        for field in ["card", "certificates", "nonce", "nonceSignature", "configuration", "network"] {
            let missing = try ctl(["encrypt", request { $0[field] = nil }] + sandbox)
            #expect(missing.status == 1 && missing.error.contains("'\(field)'"))
        }
        let unknown = try ctl(["encrypt", request { $0["pan"] = Self.number }] + sandbox)
        #expect(unknown.status == 1 && !unknown.error.contains(Self.number))
    }
}

/// The certificates that Apple used in 2018.
@Suite(.enabled(if: Installation.fixtures != nil, "MERCHANTKEYD_FIXTURES is not set"))
struct RealProvisioningCertificateTests {
    private func ctl(_ arguments: [String]) throws -> Installation.Outcome {
        try Installation.run(["\(Installation.programs)/merchantkeyctl", "provisioning"] + arguments)
    }

    private func files() throws -> [String] {
        let directory = try #require(Installation.fixtures)
        return ["\(directory)/provisioning/leaf-2018.cert.pem", "\(directory)/provisioning/sub-ca.cert.pem"]
    }

    @Test func `Apple's certificates of 2018 are verified at their time, and later only without validity periods`()
        throws
    {
        let verify = try ["verify-certificates"] + files()
        #expect(try ctl(verify + ["--at", "2019-01-01T00:00:00Z"]).status == 0)
        #expect(try ctl(verify + ["--at", "2021-01-01T00:00:00Z"]).status == 1)
        #expect(try ctl(verify + ["--at", "2021-01-01T00:00:00Z", "--ignore-validity"]).status == 0)
    }

    @Test func `a trace for Apple's production certificates is refused in every environment`() throws {
        let installation = try Installation()
        var certificates: [String] = []
        for file in try files() {
            let der = try Installation.run(["openssl", "x509", "-in", file, "-outform", "DER"])
            certificates.append(der.bytes.base64EncodedString())
        }
        let card = [
            "primaryAccountNumber": "5555555555554444", "expiration": "12/49", "name": "Alex Example",
            "productType": "MCD",
        ]
        let request: [String: Any] = [
            "certificates": certificates, "nonce": "9c023092",
            "nonceSignature": "40" + String(repeating: "5a", count: 80), "configuration": 1, "network": "Mastercard",
            "card": card,
        ]
        let file = installation.path("request.json")
        try JSONSerialization.data(withJSONObject: request).write(to: URL(filePath: file))
        let encrypt = ["encrypt", file, "--environment", "sandbox", "--ignore-validity"]
        #expect(try ctl(encrypt).status == 0)
        let traced = try ctl(encrypt + ["--trace", installation.path("trace")])
        #expect(traced.status == 1 && traced.output.isEmpty)
        #expect(!FileManager.default.fileExists(atPath: installation.path("trace")))
    }
}
