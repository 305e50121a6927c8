import Crypto
import Foundation
import MerchantTestSupport
import SandboxKit
import Testing
import Vocabulary

@Suite(.enabled(if: Programs.hasOpenSSL, "openssl is not installed"))
struct CertificateTests {
    let fixture: SandboxFixture

    init() throws { fixture = try SandboxFixture() }

    private func text(_ name: String) throws -> String {
        let outcome = try Programs.openssl(
            "x509", "-in", fixture.scratch.path(name), "-noout", "-text", "-nameopt", "sep_comma_plus,sname,show_type")
        try #require(outcome.status == 0, "\(outcome.error)")
        return outcome.output
    }

    private func accepts(_ name: String, purpose: String = "any") throws -> Bool {
        let outcome = try Programs.openssl(
            "verify", "-x509_strict", "-purpose", purpose, "-CAfile", fixture.scratch.path("root.pem"), "-untrusted",
            fixture.scratch.path("issuers.pem"), fixture.scratch.path(name))
        return outcome.status == 0
    }

    @Test("openssl verifies the chain of a payment processing certificate", arguments: SandboxFixture.Key.allCases)
    func processingChain(key: SandboxFixture.Key) throws {
        _ = try fixture.certificate(key)
        #expect(try accepts("\(key).cer"))
    }

    @Test(
        "A payment processing certificate has the same subject fields and extensions as one of Apple's",
        arguments: SandboxFixture.Key.allCases)
    func processingFields(key: SandboxFixture.Key) throws {
        _ = try fixture.certificate(key)
        let text = try text("\(key).cer")
        let id = fixture.merchant.rawValue
        let hash = MerchantIdentifierHash(of: fixture.merchant).hex.uppercased()
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

    @Test("A payment processing certificate is valid for one second less than 760 days")
    func processingValidity() throws {
        let start = try #require(Timestamp(rfc3339: "2023-09-12T14:18:25Z"))
        let der = try fixture.authority.issue(csr: fixture.csr(.ec), merchant: fixture.merchant, notBefore: start)
        try fixture.scratch.write(der, "dated.cer")
        let text = try text("dated.cer")
        #expect(text.contains("Not Before: Sep 12 14:18:25 2023 GMT"))
        #expect(text.contains("Not After : Oct 11 14:18:24 2025 GMT"))
    }

    @Test("The start of validity is rounded down to the second, so that a certificate is valid at once")
    func wholeSeconds() throws {
        let start = try #require(Timestamp(rfc3339: "2023-09-12T14:18:25.999Z"))
        let der = try fixture.authority.issue(csr: fixture.csr(.ec), merchant: fixture.merchant, notBefore: start)
        try fixture.scratch.write(der, "late.cer")
        #expect(try text("late.cer").contains("Not Before: Sep 12 14:18:25 2023 GMT"))
    }

    @Test("An identity certificate is valid for TLS clients only")
    func identity() throws {
        _ = try fixture.certificate(.rsa, purpose: .identity)
        #expect(try accepts("rsa.cer", purpose: "sslclient"))
        #expect(try !accepts("rsa.cer", purpose: "sslserver"))
        let text = try text("rsa.cer")
        #expect(text.contains("CN=UTF8STRING:Apple Pay Merchant Identity:\(fixture.merchant)"))
        #expect(text.contains("Signature Algorithm: sha256WithRSAEncryption"))
        #expect(text.contains(/Extended Key Usage: \n\s+TLS Web Client Authentication\n/))
        #expect(text.contains(/Key Usage: critical\n\s+Digital Signature\n/))
        #expect(text.contains("1.2.840.113635.100.6.32: ") && text.contains("1.2.840.113635.100.6.46: "))
    }

    @Test(
        "Root and intermediate certificates have the same fields as Apple's, and their names say that Apple did not issue them"
    )
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

    @Test("A CSR is accepted as PEM, as DER, and as PEM with text before the block")
    func forms() throws {
        let pem = try fixture.csr(.ec)
        try fixture.scratch.write(pem, "form.csr")
        let conversion = try Programs.openssl(
            "req", "-in", fixture.scratch.path("form.csr"), "-outform", "DER", "-out", fixture.scratch.path("form.der"))
        try #require(conversion.status == 0)
        for csr in [pem, try fixture.scratch.bytes("form.der"), Array("Bag Attributes\n  a: b\n".utf8) + pem] {
            #expect(throws: Never.self) {
                try fixture.authority.issue(csr: csr, merchant: fixture.merchant, notBefore: SandboxFixture.now)
            }
        }
    }

    @Test(
        "The subject and attributes of a CSR are ignored", arguments: SandboxFixture.Key.allCases)
    func attributes(key: SandboxFixture.Key) throws {
        try fixture.scratch.write(
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
        let path = fixture.scratch.path("attributes.csr")
        let request = try Programs.openssl(
            "req", "-new", "-nodes", "-config", fixture.scratch.path("req.cnf"), "-keyout",
            fixture.scratch.path("attributes.pem"), "-out", path, "-newkey",
            key == .ec ? "ec" : "rsa:2048", "-pkeyopt",
            key == .ec ? "ec_paramgen_curve:P-256" : "rsa_keygen_bits:2048")
        try #require(request.status == 0, "\(request.error)")
        let certificate = try fixture.authority.issue(
            csr: try fixture.scratch.bytes("attributes.csr"), merchant: fixture.merchant, notBefore: SandboxFixture.now)
        try fixture.scratch.write(certificate, "attributes.cer")
        let subject = try Programs.openssl(
            "x509", "-inform", "DER", "-in", fixture.scratch.path("attributes.cer"), "-noout", "-subject")
        #expect(subject.status == 0 && !subject.output.contains("owner@example.com"))
    }

    @Test(
        "A CSR without the attributes field or with unknown or unsorted attributes is accepted, as by Apple")
    func unusualAttributes() throws {
        let key = P256.Signing.PrivateKey()
        func der(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
            content.count < 128 ? [tag, UInt8(content.count)] + content : [tag, 0x81, UInt8(content.count)] + content
        }
        let name = der(0x30, der(0x31, der(0x30, [0x06, 3, 0x55, 4, 3] + der(0x14, Array("Shöp".utf8)))))
        let head = [0x02, 1, 0] + name + Array(key.publicKey.derRepresentation)
        // Attribute 1.2.3.4, whose set has a NULL, and attribute 1.2.3.3, whose set is empty.
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
                try fixture.authority.issue(csr: csr, merchant: fixture.merchant, notBefore: SandboxFixture.now)
            }
            // The signature also covers the fields that are ignored.
            let index = try #require(csr.indices.first { csr[$0...].starts(with: Array("Sh".utf8)) })
            csr[index] = UInt8(ascii: "X")
            #expect(throws: SandboxError.self) {
                try fixture.authority.issue(csr: csr, merchant: fixture.merchant, notBefore: SandboxFixture.now)
            }
        }
    }

    @Test("A CSR that Apple would reject is rejected with an error that names the values found or expected")
    func rejectedRequests() throws {
        func expectError(
            mentioning values: String..., for csr: [UInt8], _ purpose: KeyPurpose = .paymentProcessing
        ) {
            let error = #expect(throws: SandboxError.self) {
                try fixture.authority.issue(
                    csr: csr, merchant: fixture.merchant, purpose: purpose, notBefore: SandboxFixture.now)
            }
            for value in values { #expect(error?.description.contains(value) == true, "\(error as Any)") }
        }
        try expectError(mentioning: "EC(P-256)", "RSA(2048)", "identity", for: fixture.csr(.ec), .identity)
        try expectError(mentioning: "EC(P-256)", "RSA(2048)", for: fixture.csr(.rsa, "-newkey", "rsa:3072"))
        try expectError(mentioning: "ecdsa-with-SHA256", for: fixture.csr(.ec, "-sha512"))
        expectError(mentioning: "PKCS#10", for: [])
        expectError(mentioning: "PKCS#10", for: [0x30, 0x00])
        expectError(mentioning: "PKCS#10", for: Array("hello".utf8))
        let certificate = Array(try fixture.authority.rootCertificate.utf8)
        expectError(mentioning: "'CERTIFICATE'", "PKCS#10", for: certificate)
        let csr = try fixture.csr(.ec)
        expectError(mentioning: "2 PEM blocks", for: csr + csr)
    }

    @Test("A CSR with an invalid signature is rejected")
    func signature() throws {
        try fixture.scratch.write(fixture.csr(.rsa), "good.csr")
        _ = try Programs.openssl(
            "req", "-in", fixture.scratch.path("good.csr"), "-outform", "DER", "-out", fixture.scratch.path("bad.csr"))
        var der = try fixture.scratch.bytes("bad.csr")
        der[der.count - 1] ^= 1
        #expect(throws: SandboxError.self) {
            try fixture.authority.issue(csr: der, merchant: fixture.merchant, notBefore: SandboxFixture.now)
        }
    }

    @Test("A validity period that does not end after its start is rejected")
    func validity() throws {
        let csr = try fixture.csr(.ec)
        #expect(throws: SandboxError.self) {
            try fixture.authority.issue(
                csr: csr, merchant: fixture.merchant, notBefore: SandboxFixture.now, notAfter: SandboxFixture.now)
        }
    }
}
