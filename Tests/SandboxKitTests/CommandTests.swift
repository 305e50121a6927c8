import Foundation
import MerchantTestSupport
import SandboxKit
import Testing
import Vocabulary

@Suite(.enabled(if: Programs.hasOpenSSL, "openssl is not installed"))
struct CommandTests {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func mode(_ name: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: scratch.path(name))[.posixPermissions] as? Int
    }

    @Test("init, issue and mint-token produce a hierarchy, a certificate and tokens")
    func story() throws {
        let directory = scratch.path("ca")
        // 1. init generates a hierarchy. Only the owner can read the private keys.
        #expect(SandboxProgram.run(["init", "--directory", directory]) == 0)
        let names = try FileManager.default.contentsOfDirectory(atPath: directory)
        #expect(names.count == 12)
        for name in names where name.hasSuffix(".key.pem") { #expect(try mode("ca/\(name)") == 0o600) }
        // 2. A second init changes nothing.
        let root = try scratch.bytes("ca/root.pem")
        #expect(SandboxProgram.run(["init", "--directory", directory]) == 1)
        #expect(try scratch.bytes("ca/root.pem") == root)
        // 3. issue issues a certificate that chains to root.pem.
        let request = try Programs.openssl(
            "req", "-new", "-nodes", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-subj", "/CN=x",
            "-keyout", scratch.path("key.pem"), "-out", scratch.path("x.csr"))
        try #require(request.status == 0)
        #expect(
            SandboxProgram.run([
                "issue", "--csr", scratch.path("x.csr"), "--merchant", "merchant.com.example", "--out",
                scratch.path("x.cer"), "--directory", directory,
            ]) == 0)
        let chain = try Programs.openssl(
            "verify", "-CAfile", scratch.path("ca/root.pem"), "-untrusted", scratch.path("ca/processing-issuer.pem"),
            scratch.path("x.cer"))
        #expect(chain.status == 0, "\(chain.error)")
        // 4. mint-token writes one token on each line.
        #expect(
            SandboxProgram.run([
                "mint-token", "--certificate", scratch.path("x.cer"), "--amount", "1", "--currency", "036",
                "--application-data", "order 4711", "--data-type", "EMV", "--signing-time", "2026-01-31T12:00:00Z",
                "--authentication-response", "merchant.com.example.other=250", "--count", "3", "--leading-zero-secret",
                "--merchant-token-identifier", "DAPLMC", "--merchant-token-metadata", "--out", scratch.path("tokens"),
                "--directory", directory,
            ]) == 0)
        let lines = try scratch.text("tokens").split(separator: "\n")
        #expect(lines.count == 3)
        for line in lines { #expect(throws: Never.self) { try ParsedToken(String(line)) } }
        // No temporary file is left.
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory).count == 12)
    }

    private func writeCSR(_ name: String, subject: String, isRSA: Bool = false) throws {
        let key = isRSA ? ["-newkey", "rsa:2048"] : ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
        let outcome = try Programs.run(
            ["openssl", "req", "-new", "-nodes", "-subj", subject, "-keyout", scratch.path("key.pem"), "-out"]
                + [scratch.path(name)] + key)
        try #require(outcome.status == 0, "\(outcome.error)")
    }

    private func subject(_ name: String) throws -> String {
        try Programs.openssl("x509", "-inform", "DER", "-noout", "-subject", "-in", scratch.path(name)).output
    }

    @Test func `issue issues a certificate for each CSR of a directory, and keeps the existing ones`() throws {
        try #require(SandboxProgram.run(["init", "--directory", scratch.path("ca")]) == 0)
        try FileManager.default.createDirectory(atPath: scratch.path("csrs"), withIntermediateDirectories: false)
        try writeCSR("csrs/a.csr", subject: "/CN=merchant.com.example.a")
        try writeCSR("csrs/b.pem", subject: "/UID=merchant.com.example.b")
        try writeCSR("csrs/c-identity.certSigningRequest", subject: "/CN=merchant.com.example.c", isRSA: true)
        try scratch.write("-----BEGIN X-----\n", "csrs/no-csr.pem")
        let issue = ["issue", scratch.path("csrs"), "--directory", scratch.path("ca")]
        #expect(SandboxProgram.run(issue) == 0)
        #expect(try subject("csrs/a.cer").contains("Payment Processing:merchant.com.example.a"))
        #expect(try subject("csrs/b.cer").contains("Payment Processing:merchant.com.example.b"))
        #expect(try subject("csrs/c-identity.cer").contains("Merchant Identity:merchant.com.example.c"))
        // A second run keeps the certificates, and issues the missing one.
        let before = try scratch.bytes("csrs/a.cer")
        try FileManager.default.removeItem(atPath: scratch.path("csrs/b.cer"))
        #expect(SandboxProgram.run(issue) == 0)
        #expect(try scratch.bytes("csrs/a.cer") == before && !scratch.bytes("csrs/b.cer").isEmpty)
        // A CSR without an identifier is refused; --merchant names the merchant of all certificates.
        try writeCSR("csrs/d.csr", subject: "/CN=Example")
        #expect(SandboxProgram.run(issue) == 1)
        let other = issue + ["--merchant", "merchant.com.example.d", "--out-directory", scratch.path("out")]
        #expect(SandboxProgram.run(other) == 0)
        #expect(try subject("out/a.cer").contains("merchant.com.example.d"))
        // The certificate of another key is not replaced.
        try writeCSR("csrs/a.csr", subject: "/CN=merchant.com.example.a")
        #expect(SandboxProgram.run(issue + ["--merchant", "merchant.com.example.a"]) == 1)
        #expect(try scratch.bytes("csrs/a.cer") == before)
        for wrong in [["--out", "x"], ["--csr", "x"]] { #expect(SandboxProgram.run(issue + wrong) == 2) }
    }

    @Test("The exit status of an error is 1")
    func errors() throws {
        let missing = scratch.path("missing")
        let certificate = try scratch.write("hello", "hello")
        #expect(SandboxProgram.run(["mint-token", "--certificate", certificate, "--directory", missing]) == 1)
        try scratch.write("", "token-issuer.key.pem")
        #expect(SandboxProgram.run(["init", "--directory", scratch.directory]) == 1)
        #expect(SandboxProgram.run(["init", "--directory", "\(certificate)/below"]) == 1)
    }

    @Test(
        "The exit status of wrong usage is 2",
        arguments: [
            ["nonsense"], ["issue"], ["init", "--nonsense"],
            ["issue", "--csr", "x", "--merchant", "nonsense", "--out", "y"],
            ["issue", "--csr", "x", "--merchant", "merchant.x", "--out", "y", "--purpose", "nonsense"],
            ["issue", "--csr", "x", "--merchant", "merchant.x", "--out", "y", "--not-before", "yesterday"],
            ["mint-token"], ["mint-token", "--certificate", "x", "--amount", "-1"],
            ["mint-token", "--certificate", "x", "--amount", "1.5"],
            ["mint-token", "--certificate", "x", "--currency", "usd"],
            ["mint-token", "--certificate", "x", "--count", "0"],
            ["mint-token", "--certificate", "x", "--authentication-response", "merchant.x"],
        ])
    func usage(arguments: [String]) { #expect(SandboxProgram.run(arguments) == 2) }

    @Test("The exit status of --help is 0")
    func help() { for arguments in [["--help"], ["init", "--help"]] { #expect(SandboxProgram.run(arguments) == 0) } }
}
