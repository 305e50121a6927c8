import Crypto
import Foundation
import SandboxKit
import Testing
import Vocabulary

@Suite(.enabled(if: Programs.hasOpenSSL, "openssl is not installed"))
struct CertificateTests {
    let bench: Bench

    init() throws { bench = try Bench() }

    private func text(_ name: String) throws -> String {
        let outcome = try Programs.openssl(
            "x509", "-in", bench.scratch.path(name), "-noout", "-text", "-nameopt", "sep_comma_plus,sname,show_type")
        try #require(outcome.status == 0, "\(outcome.error)")
        return outcome.output
    }

    private func accepts(_ name: String, purpose: String = "any") throws -> Bool {
        let outcome = try Programs.openssl(
            "verify", "-x509_strict", "-purpose", purpose, "-CAfile", bench.scratch.path("root.pem"), "-untrusted",
            bench.scratch.path("issuers.pem"), bench.scratch.path(name))
        return outcome.status == 0
    }

    @Test("openssl chains every processing certificate to the root", arguments: Bench.Key.allCases)
    func processingChain(key: Bench.Key) throws {
        _ = try bench.certificate(key)
        #expect(try accepts("\(key).cer"))
    }

    @Test("a processing certificate looks like Apple's", arguments: Bench.Key.allCases)
    func processingShape(key: Bench.Key) throws {
        _ = try bench.certificate(key)
        let text = try text("\(key).cer")
        let id = bench.merchant.rawValue
        let hash = MerchantIdentifierHash(of: bench.merchant).hex.uppercased()
        #expect(
            text.contains(
                "Subject: UID=UTF8STRING:\(id),CN=UTF8STRING:Apple Pay Payment Processing:\(id),OU=UTF8STRING:"))
        #expect(text.contains("Signature Algorithm: ecdsa-with-SHA256"))
        #expect(text.contains(/Basic Constraints: critical\n\s+CA:FALSE/))
        #expect(text.contains(/Key Usage: critical\n\s+Key Encipherment, Key Agreement\n/))
        #expect(text.contains("Policy: 1.2.840.113635.100.5.1\n"))
        #expect(text.contains(/1\.2\.840\.113635\.100\.6\.32: \n\s+\.@[0-9A-F]{64}\n/))
        #expect(text.contains(".@\(hash)"))
        #expect(text.contains("Authority Key Identifier") && text.contains("Subject Key Identifier"))
        #expect(!text.contains("Extended Key Usage"))
    }

    @Test("a processing certificate lives 760 days but for the last second")
    func processingLife() throws {
        let start = try #require(Timestamp(rfc3339: "2023-09-12T14:18:25Z"))
        let der = try bench.authority.issue(csr: bench.csr(.ec), merchant: bench.merchant, notBefore: start)
        try bench.scratch.write(der, "dated.cer")
        let text = try text("dated.cer")
        #expect(text.contains("Not Before: Sep 12 14:18:25 2023 GMT"))
        #expect(text.contains("Not After : Oct 11 14:18:24 2025 GMT"))
    }

    @Test("a certificate that begins now is valid now, however late in its second now is")
    func wholeSeconds() throws {
        let start = try #require(Timestamp(rfc3339: "2023-09-12T14:18:25.999Z"))
        let der = try bench.authority.issue(csr: bench.csr(.ec), merchant: bench.merchant, notBefore: start)
        try bench.scratch.write(der, "late.cer")
        #expect(try text("late.cer").contains("Not Before: Sep 12 14:18:25 2023 GMT"))
    }

    @Test("an identity certificate is for TLS clients and for nothing else")
    func identity() throws {
        _ = try bench.certificate(.rsa, purpose: .identity)
        #expect(try accepts("rsa.cer", purpose: "sslclient"))
        #expect(try !accepts("rsa.cer", purpose: "sslserver"))
        let text = try text("rsa.cer")
        #expect(text.contains("CN=UTF8STRING:Apple Pay Merchant Identity:\(bench.merchant)"))
        #expect(text.contains("Signature Algorithm: sha256WithRSAEncryption"))
        #expect(text.contains(/Extended Key Usage: \n\s+TLS Web Client Authentication\n/))
        #expect(text.contains(/Key Usage: critical\n\s+Digital Signature\n/))
        #expect(text.contains("1.2.840.113635.100.6.32: ") && text.contains("1.2.840.113635.100.6.46: "))
    }

    @Test("root and intermediates are shaped like Apple's and say that they are not Apple's")
    func hierarchy() throws {
        let root = try text("root.pem")
        #expect(root.contains("secp384r1") && root.contains("Signature Algorithm: ecdsa-with-SHA384"))
        #expect(root.contains(/Key Usage: critical\n\s+Certificate Sign, CRL Sign\n/))
        let tokenIssuer = try text("token-issuer.pem")
        #expect(tokenIssuer.contains("prime256v1") && tokenIssuer.contains("1.2.840.113635.100.6.2.14: "))
        #expect(tokenIssuer.contains("Signature Algorithm: ecdsa-with-SHA256"))
        let processingIssuer = try text("issuers.pem")
        #expect(processingIssuer.contains("prime256v1") && processingIssuer.contains("1.2.840.113635.100.6.2.15: "))
        for certificate in [root, tokenIssuer, processingIssuer] { #expect(certificate.contains("not Apple Inc.")) }
    }

    @Test("the CSR's form does not matter: PEM, DER, or text before the PEM block")
    func forms() throws {
        let pem = try bench.csr(.ec)
        try bench.scratch.write(pem, "form.csr")
        let conversion = try Programs.openssl(
            "req", "-in", bench.scratch.path("form.csr"), "-outform", "DER", "-out", bench.scratch.path("form.der"))
        try #require(conversion.status == 0)
        for csr in [pem, try bench.scratch.bytes("form.der"), Array("Bag Attributes\n  a: b\n".utf8) + pem] {
            #expect(throws: Never.self) {
                try bench.authority.issue(csr: csr, merchant: bench.merchant, notBefore: Bench.now)
            }
        }
    }

    @Test(
        "whatever subject and attributes a CSR has, Apple's included, they are ignored", arguments: Bench.Key.allCases)
    func attributes(key: Bench.Key) throws {
        try bench.scratch.write(
            Array(
                """
                [req]
                distinguished_name = names
                attributes = attributes
                req_extensions = extensions
                prompt = no
                [names]
                C = US
                CN = Shop Owner
                emailAddress = owner@example.com
                [attributes]
                challengePassword = secret
                unstructuredName = any name
                [extensions]
                subjectKeyIdentifier = hash
                keyUsage = digitalSignature
                """.utf8), "req.cnf")
        let path = bench.scratch.path("attributes.csr")
        let made = try Programs.openssl(
            "req", "-new", "-nodes", "-config", bench.scratch.path("req.cnf"), "-keyout",
            bench.scratch.path("attributes.pem"), "-out", path, "-newkey",
            key == .ec ? "ec" : "rsa:2048", "-pkeyopt",
            key == .ec ? "ec_paramgen_curve:P-256" : "rsa_keygen_bits:2048")
        try #require(made.status == 0, "\(made.error)")
        let certificate = try bench.authority.issue(
            csr: try bench.scratch.bytes("attributes.csr"), merchant: bench.merchant, notBefore: Bench.now)
        try bench.scratch.write(certificate, "attributes.cer")
        let shown = try Programs.openssl(
            "x509", "-inform", "DER", "-in", bench.scratch.path("attributes.cer"), "-noout", "-subject")
        #expect(shown.status == 0 && !shown.output.contains("owner@example.com"))
    }

    @Test(
        "a CSR whose attributes field is missing or holds an unknown, unordered attribute is signed as Apple signs it")
    func unusualAttributes() throws {
        let key = P256.Signing.PrivateKey()
        func der(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
            content.count < 128 ? [tag, UInt8(content.count)] + content : [tag, 0x81, UInt8(content.count)] + content
        }
        let name = der(0x30, der(0x31, der(0x30, [0x06, 3, 0x55, 4, 3] + der(0x14, Array("Shöp".utf8)))))
        let head = [0x02, 1, 0] + name + Array(key.publicKey.derRepresentation)
        // 1.2.3.4 with a NULL, after and before 1.2.3.3 with an empty set.
        let attributes = [
            der(0x30, [0x06, 3, 0x2A, 3, 4] + der(0x31, [5, 0])), der(0x30, [0x06, 3, 0x2A, 3, 3, 0x31, 0]),
        ]
        for rest in [
            [], der(0xA0, []), der(0xA0, attributes[0] + attributes[1]), der(0xA0, attributes[1] + attributes[0]),
        ] {
            let info = der(0x30, head + rest)
            let signature = try key.signature(for: info).derRepresentation
            let algorithm = der(0x30, [0x06, 8, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 4, 3, 2])
            var csr = der(0x30, info + algorithm + der(0x03, [0] + Array(signature)))
            #expect(throws: Never.self) {
                try bench.authority.issue(csr: csr, merchant: bench.merchant, notBefore: Bench.now)
            }
            // The signature covers what is not read, too.
            let index = try #require(csr.indices.first { csr[$0...].starts(with: Array("Sh".utf8)) })
            csr[index] = UInt8(ascii: "X")
            #expect(throws: SandboxFault.self) {
                try bench.authority.issue(csr: csr, merchant: bench.merchant, notBefore: Bench.now)
            }
        }
    }

    @Test("a CSR that Apple would refuse is refused, with what was found and what was expected")
    func refusals() throws {
        func refusal(_ csr: [UInt8], _ purpose: KeyPurpose = .paymentProcessing) -> String {
            do {
                _ = try bench.authority.issue(
                    csr: csr, merchant: bench.merchant, purpose: purpose, notBefore: Bench.now)
                return "nothing"
            } catch { return "\(error)" }
        }
        #expect(try refusal(bench.csr(.ec), .identity).contains("found a CSR for EC(P-256), expected RSA(2048)"))
        #expect(try refusal(bench.csr(.rsa, "-newkey", "rsa:3072")).contains("expected EC(P-256) or RSA(2048)"))
        #expect(try refusal(bench.csr(.ec, "-sha512")).contains("expected ecdsa-with-SHA256"))
        #expect(refusal([]).contains("found no bytes"))
        #expect(refusal([0x30, 0x00]).contains("found DER that is no CSR"))
        #expect(refusal(Array("hello".utf8)).contains("found neither PEM nor DER"))
        let certificate = Array(try bench.authority.rootCertificate.utf8)
        #expect(refusal(certificate).contains("found PEM labelled 'CERTIFICATE'"))
        let csr = try bench.csr(.ec)
        #expect(refusal(csr + csr).contains("found 2 PEM blocks"))
    }

    @Test("a CSR whose signature does not hold is refused")
    func signature() throws {
        try bench.scratch.write(bench.csr(.rsa), "good.csr")
        _ = try Programs.openssl(
            "req", "-in", bench.scratch.path("good.csr"), "-outform", "DER", "-out", bench.scratch.path("bad.csr"))
        var der = try bench.scratch.bytes("bad.csr")
        der[der.count - 1] ^= 1
        #expect(throws: SandboxFault.self) {
            try bench.authority.issue(csr: der, merchant: bench.merchant, notBefore: Bench.now)
        }
    }

    @Test("a validity that ends before it begins is refused")
    func validity() throws {
        let csr = try bench.csr(.ec)
        #expect(throws: SandboxFault.self) {
            try bench.authority.issue(
                csr: csr, merchant: bench.merchant, notBefore: Bench.now, notAfter: Bench.now)
        }
    }
}
