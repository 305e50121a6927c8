import Foundation
import MerchantTestSupport
import Testing

/// The import of a PKCS#12 file with several private keys, with the real programs.
@Suite(.enabled(if: ChildProcess.succeeds("keytool", "-help"), "keytool is not installed"))
struct SeveralKeysTests {
    private static func run(_ command: String...) throws {
        let outcome = try Installation.run(command)
        try #require(outcome.status == 0, "\(command): \(outcome.output) \(outcome.error)")
    }

    /// Writes a PKCS#12 file with a private key and its certificate for each name. openssl generates the private keys,
    /// and keytool joins them.
    ///
    /// - Returns: the file.
    private static func writeFile(_ names: [String], _ installation: Installation) throws -> String {
        let folder = installation.path("keys")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        for name in names {
            try run(
                "openssl", "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
                "/CN=merchant.com.several.\(name)", "-keyout", "\(folder)/\(name).key", "-out",
                "\(folder)/\(name).csr")
        }
        try installation.apple("issue", folder)
        let all = installation.path("all.p12")
        for name in names {
            let stem = "\(folder)/\(name)"
            try run("openssl", "x509", "-inform", "DER", "-in", "\(stem).cer", "-out", "\(stem).pem")
            try run(
                "openssl", "pkcs12", "-export", "-inkey", "\(stem).key", "-in", "\(stem).pem", "-name", name,
                "-passout", "pass:secret", "-out", "\(stem).p12")
            try run(
                "keytool", "-importkeystore", "-noprompt", "-srckeystore", "\(stem).p12", "-srcstoretype", "PKCS12",
                "-srcstorepass", "secret", "-srcalias", name, "-destkeystore", all, "-deststoretype", "PKCS12",
                "-deststorepass", "secret")
        }
        return all
    }

    @Test func `each private key of a PKCS#12 file is imported to its merchant, and a refusal of one is reported`()
        throws
    {
        let installation = try Installation()
        try installation.start()
        try installation.apple("init")
        let file = try Self.writeFile(["a", "b", "c"], installation)
        let passphrase = try installation.write("secret\n", "passphrase")
        // The merchant of c does not exist yet.
        for name in ["a", "b"] {
            #expect(try installation.ctl("merchant", "add", "merchant.com.several.\(name)").status == 0)
        }
        let single = try installation.ctl(
            "key", "import", "merchant.com.several.a", "--private-key", file, "--passphrase-file", passphrase)
        #expect(single.status == 1 && single.error.contains("holds 3 private keys"), "\(single.error)")
        let first = try installation.ctl("key", "import-all", file, "--passphrase-file", passphrase)
        #expect(first.status == 1, "\(first.output) \(first.error)")
        let report = try String(contentsOfFile: "\(file).report.jsonl", encoding: .utf8)
        #expect(report.contains("merchantNotFound") && report.contains("2 private keys were imported"), "\(report)")
        #expect(try installation.ctl("merchant", "add", "merchant.com.several.c").status == 0)
        let second = try installation.ctl("key", "import-all", file, "--passphrase-file", passphrase)
        #expect(second.status == 0, "\(second.output) \(second.error)")
        for name in ["a", "b", "c"] {
            let list = try installation.ctl("key", "list", "merchant.com.several.\(name)", "--state", "standby")
            #expect(list.output.contains("standby"), "\(list.output)")
        }
    }
}
