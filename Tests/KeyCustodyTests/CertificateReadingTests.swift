import Foundation
import KeyCustody
import MerchantCore
import Testing
import Vocabulary

@Suite struct CertificateReadingTests {
    let scratch: Scratch
    let custody: KeyCustody
    let hash: MerchantIdentifierHash

    init() throws {
        scratch = try Scratch()
        custody = try CustodyFixture().custody
        hash = MerchantIdentifierHash(of: CustodyFixture.merchant)
        let settings = """
            [req]
            distinguished_name = dn
            [dn]
            [processing]
            basicConstraints = critical, CA:false
            keyUsage = critical, keyEncipherment, keyAgreement
            1.2.840.113635.100.6.32 = ASN1:UTF8String:\(hash.hex.uppercased())
            [identity]
            keyUsage = critical, digitalSignature
            extendedKeyUsage = clientAuth
            1.2.840.113635.100.6.32 = ASN1:UTF8String:\(hash.hex)
            [odd]
            1.2.840.113635.100.6.32 = ASN1:UTF8String:ABC
            [ca]
            basicConstraints = critical, CA:true
            """
        _ = try scratch.file("x.cnf", Array(settings.utf8))
        try Tool.openssl("ecparam -name prime256v1 -genkey -noout -out key.pem", in: scratch)
        try issue("processing", "cert.pem")
    }

    private func issue(_ section: String, _ name: String, key: String = "key.pem") throws {
        try Tool.openssl(
            "req -new -x509 -config x.cnf -extensions \(section) -key \(key) -subj /UID=\(CustodyFixture.merchant)/CN=Processing/C=US -set_serial 0x0fedcba987654321ff -days 30 -out \(name)",
            in: scratch)
    }

    private func der(_ name: String) throws -> [UInt8] {
        try Tool.openssl("x509 -in \(name) -outform DER", in: scratch)
    }

    private func refused(_ upload: [UInt8]) -> MerchantError? { refusal { try custody.readCertificate(upload) } }

    @Test func `a payment processing certificate is read as openssl reads it`() throws {
        let facts = try custody.readCertificate(try der("cert.pem"))
        let info = try Tool.openssl("pkey -in key.pem -pubout -outform DER", in: scratch)
        #expect(facts.publicKeyHash == PublicKeyHash(of: info))
        #expect(facts.keyTypeName == "P-256")
        #expect(facts.merchantIdentifierHash == hash)
        #expect(facts.hasKeyEncipherment && !facts.hasDigitalSignature && !facts.isCertificateAuthority)
        #expect(facts.extendedKeyUsages == nil)
        #expect(facts.serialNumber == "0FEDCBA987654321FF")
        #expect(facts.subject.contains("Processing") && facts.issuer == facts.subject)
        #expect(facts.der == (try der("cert.pem")))
        let digest = try Tool.openssl("x509 -in cert.pem -noout -fingerprint -sha256", in: scratch)
        let text = String(decoding: digest, as: UTF8.self).replacing(":", with: "").lowercased()
        #expect(text.contains(Hex.encode(facts.fingerprint)))
        #expect(facts.notAfter.millisecondsSince1970 - facts.notBefore.millisecondsSince1970 == 30 * 86_400_000)
        #expect(abs(facts.notBefore.millisecondsSince1970 - Timestamp.now.millisecondsSince1970) < 60_000)
    }

    @Test func `an identity certificate over RSA-2048 and a CA's certificate are recognized by their extensions`()
        throws
    {
        try Tool.openssl("genrsa -out rsa.pem 2048", in: scratch)
        try issue("identity", "identity.pem", key: "rsa.pem")
        let identity = try custody.readCertificate(try scratch.read("identity.pem"))
        #expect(identity.keyTypeName == "RSA-2048" && identity.hasDigitalSignature && !identity.hasKeyEncipherment)
        #expect(identity.extendedKeyUsages == ["1.3.6.1.5.5.7.3.2"])
        #expect(identity.merchantIdentifierHash == hash)
        try issue("ca", "ca.pem")
        let authority = try custody.readCertificate(try scratch.read("ca.pem"))
        #expect(authority.isCertificateAuthority && authority.merchantIdentifierHash == nil)
        try issue("odd", "odd.pem")
        #expect(try custody.readCertificate(try scratch.read("odd.pem")).merchantIdentifierHash == nil)
    }

    @Test func `PEM is read with text around it, with any line ends, and without the last line end`() throws {
        let pem = String(decoding: try scratch.read("cert.pem"), as: UTF8.self)
        let expected = try der("cert.pem")
        let oneLine =
            "-----BEGIN CERTIFICATE-----\n\(Data(expected).base64EncodedString())\n-----END CERTIFICATE-----\n"
        let uploads = [
            pem, "Bag Attributes\n    localKeyID: 01\nsubject=/CN=x\n\n" + pem, pem + "\nthank you\n",
            pem.replacing("\n", with: "\r\n"), oneLine, String(pem.dropLast()), "\u{feff}\n" + pem,
        ]
        for upload in uploads { #expect(try custody.readCertificate(Array(upload.utf8)).der == expected) }
        #expect(try custody.readCertificate([0xff, 0xfe, 0x0a] + Array(pem.utf8)).der == expected)
    }

    @Test func `the certificate of a TLS client may have any key, and must be one complete certificate`() throws {
        try Tool.openssl("ecparam -name secp384r1 -genkey -noout -out other.pem", in: scratch)
        try issue("identity", "client.pem", key: "other.pem")
        let (pem, bytes) = (try scratch.read("client.pem"), try der("client.pem"))
        #expect(refused(pem)?.code == .keyUnsupported)
        let expected = PublicKeyHash(of: bytes).bits
        #expect(try custody.fingerprint(ofClientCertificate: pem) == expected)
        #expect(try custody.fingerprint(ofClientCertificate: bytes) == expected)
        func code(_ upload: [UInt8]) -> MerchantError.Code? {
            refusal { try custody.fingerprint(ofClientCertificate: upload) }?.code
        }
        #expect(code(pem + pem) == .certificateChain)
        #expect(code(pem + (try scratch.read("other.pem"))) == .privateKeyUploaded)
        #expect(code(Array(bytes.dropLast())) == .certificateMalformed)
        #expect(code([0x30, 0x00]) == .certificateMalformed)
    }

    @Test func `a chain is refused with its number of certificates`() throws {
        let pem = try scratch.read("cert.pem")
        let error = try #require(refused(pem + pem + pem))
        #expect(error.code == .certificateChain && error.detail.contains("3 certificates"))
    }

    @Test func `a private key is refused in every format, complete or truncated, and not repeated in the error`() throws
    {
        try Tool.openssl("pkcs8 -topk8 -nocrypt -in key.pem -out p8.pem", in: scratch)
        try Tool.openssl("pkcs8 -topk8 -in key.pem -passout pass:x -out e8.pem", in: scratch)
        let key = try scratch.read("key.pem")
        let certificate = try scratch.read("cert.pem")
        let uploads: [[UInt8]] = [
            key, certificate + key, key + certificate, Array(key.dropLast(40)), try scratch.read("p8.pem"),
            try scratch.read("e8.pem"), try Tool.openssl("ec -in key.pem -outform DER", in: scratch),
            try Tool.openssl("pkcs8 -topk8 -nocrypt -in key.pem -outform DER", in: scratch),
            try Tool.openssl("pkcs8 -topk8 -in key.pem -passout pass:x -outform DER", in: scratch),
            try Tool.openssl("pkcs12 -export -inkey key.pem -in cert.pem -passout pass:x", in: scratch),
        ]
        for upload in uploads {
            let error = try #require(refused(upload))
            #expect(error.code == .privateKeyUploaded, "\(error)")
            #expect(!error.detail.contains("MH"))
        }
    }

    @Test func `an uploaded CSR is reported as such`() throws {
        try Tool.openssl("req -new -config x.cnf -key key.pem -subj /CN=x -out csr.pem", in: scratch)
        for upload in [
            try scratch.read("csr.pem"), try Tool.openssl("req -in csr.pem -outform DER", in: scratch),
        ] {
            let error = try #require(refused(upload))
            #expect(error.code == .certificateMalformed && error.detail.contains("CSR"))
        }
    }

    @Test func `a file that is not a certificate is refused as malformed`() throws {
        let certificate = try der("cert.pem")
        let pem = try scratch.read("cert.pem")
        try Tool.openssl("crl2pkcs7 -nocrl -certfile cert.pem -out p7.pem", in: scratch)
        let uploads: [[UInt8]] = [
            [], [0], [0x30], [0x30, 0x00], Array("not a certificate".utf8), certificate + [0],
            Array(certificate.dropLast()), Array(pem.dropLast(30)), [0xff] + certificate,
            Array("-----BEGIN CERTIFICATE-----\n%%%%\n-----END CERTIFICATE-----\n".utf8),
            Array("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n".utf8),
            try scratch.read("p7.pem"),
            try Tool.openssl("crl2pkcs7 -nocrl -certfile cert.pem -outform DER", in: scratch),
            try Tool.openssl("pkey -in key.pem -pubout", in: scratch),
        ]
        for upload in uploads { #expect(refused(upload)?.code == .certificateMalformed) }
        #expect(refused([UInt8](repeating: 0x30, count: 65_537))?.code == .tooLarge)
    }

    @Test func `the error for a file of another kind names the kind`() throws {
        let bundle = try Tool.openssl("crl2pkcs7 -nocrl -certfile cert.pem -outform DER", in: scratch)
        let store = try Tool.openssl("pkcs12 -export -inkey key.pem -in cert.pem -passout pass:x", in: scratch)
        let others: [([UInt8], MerchantError.Code, String)] = [
            (Array("<!DOCTYPE html><html><title>Sign in</title></html>".utf8), .certificateMalformed, "web page"),
            (bundle, .certificateMalformed, "PKCS #7"), (store, .privateKeyUploaded, "PKCS #12"),
            (bundle + Array("<?xml version=\"1.0\"?><plist>".utf8), .certificateMalformed, "provisioning profile"),
            (Array("PK\u{03}\u{04}archive".utf8), .certificateMalformed, "archive"),
            (Array("{\\rtf1 text}".utf8), .certificateMalformed, "document"),
            (Array(" \n".utf8), .certificateMalformed, "empty"),
            (try Tool.openssl("pkey -in key.pem -pubout", in: scratch), .certificateMalformed, "PUBLIC KEY"),
        ]
        for (file, code, kind) in others {
            let error = try #require(refused(file), "\(kind)")
            #expect(error.code == code && error.detail.contains(kind), "\(error)")
        }
    }

    @Test(arguments: [
        ("ecparam -name secp384r1 -genkey -noout", "P-384"), ("genrsa 1024", "RSA-1024"),
        ("genrsa 4096", "RSA-4096"), ("ecparam -name secp256k1 -genkey -noout", "secp256k1"),
        ("genpkey -algorithm ED25519", "Ed25519"),
    ])
    func `a certificate for another type of key is refused with that type`(command: String, kind: String) throws {
        _ = try scratch.file("other.pem", try Tool.openssl(command, in: scratch))
        try issue("processing", "other-cert.pem", key: "other.pem")
        let error = try #require(refused(try scratch.read("other-cert.pem")))
        #expect(error.code == .keyUnsupported)
        #expect(error.detail.contains(kind) && error.detail.contains("expected P-256 or RSA-2048"))
    }

    @Test func `a truncated certificate is refused, and a changed one causes no crash`() throws {
        let certificate = try der("cert.pem")
        for count in certificate.indices { #expect(refused(Array(certificate.prefix(count))) != nil) }
        for index in certificate.indices {
            var changed = certificate
            changed[index] ^= UInt8.random(in: 1...255)
            // Reading a changed certificate is allowed; it is not trusted yet.
            _ = try? custody.readCertificate(changed)
        }
    }
}
