import Foundation
import Testing

/// Tokens of the sandbox at a daemon that trusts its root.
@Suite struct SandboxTokenTests {
    static let merchant = "merchant.com.example.tokens"

    let installation: Installation
    let config: String

    init() throws {
        installation = try Installation()
        try installation.apple("init")
        config = try installation.write(
            "environment: sandbox\ntrust:\n  token-roots: [\(installation.path("apple/root.pem"))]\n", "config.yaml")
        try installation.start(config: config)
        #expect(try installation.ctl("merchant", "add", Self.merchant).status == 0)
        _ = try installation.certifiedKey(Self.merchant, "key")
    }

    func mint(_ name: String, _ options: String...) throws -> String {
        let outcome = try Installation.run(
            [
                "\(Installation.programs)/applepay-sandbox", "mint-token", "--certificate",
                installation.path("key.cer"), "--directory", installation.path("apple"), "--out",
                installation.path(name),
            ] + options)
        #expect(outcome.status == 0, "\(outcome.error)")
        return installation.path(name)
    }

    @Test
    func
        `inspect shows signer, certificates with Apple's markers, times and the stored key, also with the daemon down`()
        throws
    {
        let token = try mint("token.json", "--signing-time", "2026-11-21T05:00:00Z", "--application-data", "order 4711")
        let up = try installation.ctl("token", "inspect", token)
        #expect(up.status == 0, "\(up.error)")
        for line in [
            "stored key                  standby, of \(Self.merchant)",
            "signing time (UTC)          2026-11-21T05:00:00Z",
            "environment                 sandbox (", "certificates                2",
            "verified                    no, nothing was checked", "certificate       ecc-smp-broker-sign_UC4-SANDBOX",
            "role              signer of the token",
            "extension         1.2.840.113635.100.6.29 (Apple marker: signs payment tokens)",
            "extension         1.2.840.113635.100.6.2.14 (Apple marker: Application Integration CA)",
        ] { #expect(up.output.contains(line), "\(line)\n\(up.output)") }
        let minted = try Installation.run([
            "openssl", "x509", "-in", installation.path("apple/token-issuer.pem"), "-enddate", "-noout", "-dateopt",
            "iso_8601",
        ])
        let end = minted.output.dropFirst("notAfter=".count).trimmingCharacters(in: .whitespacesAndNewlines)
            .replacingOccurrences(of: " ", with: "T")
        #expect(up.output.contains("valid to (UTC)    \(end)"), "\(end)\n\(up.output)")

        installation.stop()
        let down = try installation.ctl("token", "inspect", token)
        #expect(down.status == 0)
        #expect(down.output.contains("stored key                  unknown: "))
        #expect(down.output.contains("2026-11-21T05:00:00Z"))
        let json = try installation.ctlJSON("token", "inspect", token)
        #expect(json["signingTime"] as? String == "2026-11-21T05:00:00Z")
        #expect(json["environment"] as? String == "sandbox")
        #expect((json["storedKeyUnknown"] as? String)?.isEmpty == false)
        let certificates = try #require(json["certificates"] as? [[String: Any]])
        #expect(certificates.map { $0["isSigner"] as? Bool } == [true, false])
        let extensions = try #require(certificates[0]["extensions"] as? [[String: Any]])
        #expect(extensions.contains { $0["oid"] as? String == "1.2.840.113635.100.6.29" })
    }

    @Test func `tables of decrypted tokens mask account numbers and cryptograms, raw shows the plaintext`() throws {
        let token = try mint("token.json")
        let table = try installation.ctl("token", "decrypt", token, "--merchant", Self.merchant)
        #expect(table.status == 0, "\(table.error)")
        let raw = try installation.ctl("token", "decrypt", token, "--merchant", Self.merchant, "--raw")
        let content = try raw.json()
        let number = try #require(content["applicationPrimaryAccountNumber"] as? String)
        let cryptogram = try #require(
            (content["paymentData"] as? [String: Any])?["onlinePaymentCryptogram"] as? String)
        #expect(table.output.contains("1111") && !table.output.contains(number) && !table.output.contains(cryptogram))
        let verified = try installation.ctl("token", "verify", token)
        #expect(verified.status == 0 && !verified.output.contains(number), "\(verified.output)")
    }

    @Test func `a clock that most merchants' genuine tokens disagree with is critical in status and named in health`()
        throws
    {
        for number in 1..<5 {
            let merchant = "\(Self.merchant)\(number)"
            #expect(try installation.ctl("merchant", "add", merchant).status == 0)
            _ = try installation.certifiedKey(merchant, "key\(number)")
        }
        let late = ISO8601DateFormatter().string(from: Date().addingTimeInterval(-3600))
        func tokens(of number: Int, _ options: String...) throws -> [Substring] {
            let key = number == 0 ? "key.cer" : "key\(number).cer"
            let file = installation.path("tokens-\(UUID().uuidString)")
            let outcome = try Installation.run(
                [
                    "\(Installation.programs)/applepay-sandbox", "mint-token", "--certificate", installation.path(key),
                    "--directory", installation.path("apple"), "--out", file,
                ] + options)
            #expect(outcome.status == 0, "\(outcome.error)")
            return try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
        }
        func verify(_ line: Substring) throws -> Installation.Outcome {
            try installation.ctl("token", "verify", try installation.write(String(line), "one.json"))
        }
        func isAlarmed() throws -> Bool {
            let status = try installation.ctl("status", "--output", "json")
            let health = try installation.curlBody(installation.decryptorSocket, "/v1/health").output
            #expect(status.output.contains("clockWrong") == health.contains("clock seems to be"), "\(health)")
            #expect(health.contains("\"ready\":true"))
            return status.output.contains("clockWrong")
        }
        // Two dozen late tokens of one merchant say nothing, and neither does one whose signature does not hold.
        for line in try tokens(of: 0, "--count", "24", "--signing-time", late) {
            #expect(try verify(line).output.contains("signingTime"))
        }
        for number in 1..<5 {
            for line in try tokens(of: number, "--signing-time", late) {
                _ = try verify(Substring(line.replacingOccurrences(of: "\"data\":\"", with: "\"data\":\"AAAA")))
            }
        }
        #expect(try isAlarmed() == false)
        for number in 1..<5 {
            for line in try tokens(of: number, "--signing-time", late) { #expect(try verify(line).status == 1) }
        }
        #expect(try isAlarmed())
        let check = try installation.ctl("status", "--check")
        #expect(
            check.status == 2 && check.output.contains("CRITICAL") && check.output.contains("clock seems to be"),
            "\(check.output)")
        // A merchant's newest token is its vote.
        for number in 0..<3 {
            for line in try tokens(of: number) { #expect(try verify(line).status == 0) }
        }
        #expect(try isAlarmed() == false)
    }
}
