import Foundation
import Testing

/// Tokens from the sandbox, whose root the daemon trusts.
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

    private func mint(_ name: String, _ options: String...) throws -> String {
        let outcome = try Installation.run(
            [
                "\(Installation.programs)/applepay-sandbox", "mint-token", "--certificate",
                installation.path("key.cer"), "--directory", installation.path("apple"), "--out",
                installation.path(name),
            ] + options)
        #expect(outcome.status == 0, "\(outcome.error)")
        return installation.path(name)
    }

    @Test func `inspect shows signer, certificates, times and the stored key, and works with the daemon stopped`()
        throws
    {
        let token = try mint("token.json", "--signing-time", "2026-11-21T05:00:00Z", "--application-data", "order 4711")
        func expectContent(_ inspection: [String: Any]) throws {
            #expect(inspection["signingTime"] as? String == "2026-11-21T05:00:00Z")
            #expect(inspection["environment"] as? String == "sandbox")
            let certificates = try #require(inspection["certificates"] as? [[String: Any]])
            #expect(certificates.map { $0["isSigner"] as? Bool } == [true, false])
            #expect((certificates.first?["subject"] as? String)?.contains("ecc-smp-broker-sign_UC4-SANDBOX") == true)
            // The extensions by which Apple marks a signer of payment tokens and the Application Integration CA.
            let markers = ["1.2.840.113635.100.6.29", "1.2.840.113635.100.6.2.14"]
            for (certificate, marker) in zip(certificates, markers) {
                let extensions = certificate["extensions"] as? [[String: Any]] ?? []
                #expect(extensions.contains { $0["oid"] as? String == marker }, "\(extensions)")
            }
        }
        let serving = try installation.ctlJSON("token", "inspect", token)
        try expectContent(serving)
        let stored = try #require(serving["storedKey"] as? [String: Any])
        #expect(stored["state"] as? String == "standby" && stored["merchantIdentifier"] as? String == Self.merchant)
        let printed = try Installation.run([
            "openssl", "x509", "-in", installation.path("apple/token-issuer.pem"), "-enddate", "-noout", "-dateopt",
            "iso_8601",
        ])
        let end = printed.output.dropFirst("notAfter=".count).trimmingCharacters(in: .whitespacesAndNewlines)
            .replacingOccurrences(of: " ", with: "T")
        let certificates = try #require(serving["certificates"] as? [[String: Any]])
        #expect(certificates.last?["notAfter"] as? String == end)

        installation.stop()
        let stopped = try installation.ctlJSON("token", "inspect", token)
        try expectContent(stopped)
        #expect((stopped["storedKeyUnknown"] as? String)?.isEmpty == false && stopped["storedKey"] == nil)
        // The table has the same times.
        let table = try installation.ctl("token", "inspect", token)
        #expect(table.status == 0 && table.output.contains("2026-11-21T05:00:00Z") && table.output.contains(end))
    }

    @Test func `tables of decrypted tokens mask account numbers and cryptograms, and --raw prints the plaintext`()
        throws
    {
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

    @Test func `a clock that differs from most merchants' genuine tokens is critical in status and reported in health`()
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
        func isReported() throws -> Bool {
            let health = try installation.health()
            let isInStatus = try installation.findings().contains("clockWrong")
            #expect(health.isReady && health.findings.contains("clockWrong") == isInStatus, "\(health)")
            return isInStatus
        }
        // Neither many late tokens of one merchant nor late tokens with an invalid signature are reported.
        for line in try tokens(of: 0, "--count", "24", "--signing-time", late) {
            #expect(try verify(line).output.contains("signingTime"))
        }
        for number in 1..<5 {
            for line in try tokens(of: number, "--signing-time", late) {
                _ = try verify(Substring(line.replacingOccurrences(of: "\"data\":\"", with: "\"data\":\"AAAA")))
            }
        }
        #expect(try isReported() == false)
        for number in 1..<5 {
            for line in try tokens(of: number, "--signing-time", late) { #expect(try verify(line).status == 1) }
        }
        #expect(try isReported())
        let check = try installation.ctl("status", "--check")
        #expect(check.status == 2 && check.output.contains("CRITICAL"), "\(check.output)")
        // Each merchant's newest token counts.
        for number in 0..<3 {
            for line in try tokens(of: number) { #expect(try verify(line).status == 0) }
        }
        #expect(try isReported() == false)
    }
}
