import Foundation
import KeyCustody
import MerchantCore
import Testing
import Vocabulary

@Suite struct GenerationTests {
    static let kinds: [(KeyAlgorithm, KeyPurpose)] = [
        (.ecV1, .paymentProcessing), (.rsaV1, .paymentProcessing), (.rsaV1, .identity),
    ]

    @Test(arguments: kinds)
    func `openssl verifies the CSR, which has the public key and the merchant of the key pair`(
        kind: (KeyAlgorithm, KeyPurpose)
    ) throws {
        let scratch = try Scratch()
        let new = try CustodyFixture().generate(kind.0, purpose: kind.1)
        _ = try scratch.file("csr.der", new.certificateSigningRequest)
        try Tool.openssl("req -verify -inform DER -in csr.der -noout", in: scratch)
        let text = String(
            decoding: try Tool.openssl("req -inform DER -in csr.der -noout -text", in: scratch), as: UTF8.self)
        #expect(text.contains("CN = \(CustodyFixture.merchant)"))
        #expect(text.contains(kind.0 == .ecV1 ? "ecdsa-with-SHA256" : "sha256WithRSAEncryption"))
        #expect(text.contains(kind.0 == .ecV1 ? "NIST CURVE: P-256" : "Public-Key: (2048 bit)"))
        try Tool.openssl("req -inform DER -in csr.der -pubkey -noout -out public.pem", in: scratch)
        let info = try Tool.openssl("pkey -pubin -in public.pem -outform DER", in: scratch)
        #expect(info == new.subjectPublicKeyInfo)
        #expect(PublicKeyHash(of: info) == new.publicKeyHash)
    }

    @Test(arguments: kinds)
    func `the attributes field is present, as RFC 2986 requires`(kind: (KeyAlgorithm, KeyPurpose)) throws {
        let scratch = try Scratch()
        let new = try CustodyFixture().generate(kind.0, purpose: kind.1)
        _ = try scratch.file("csr.der", new.certificateSigningRequest)
        let lines = String(decoding: try Tool.openssl("asn1parse -inform DER -in csr.der", in: scratch), as: UTF8.self)
            .split(separator: "\n")
        #expect(lines.contains { $0.contains("d=2") && $0.contains("l=   0") && $0.contains("cont [ 0 ]") })
    }

    @Test(.enabled(if: Tool.hasPython, "needs Python's package cryptography"), arguments: kinds)
    func `a strict reader in Python accepts the CSR`(kind: (KeyAlgorithm, KeyPurpose)) throws {
        let scratch = try Scratch()
        let new = try CustodyFixture().generate(kind.0, purpose: kind.1)
        let program = """
            import sys
            from cryptography import x509
            csr = x509.load_der_x509_csr(sys.stdin.buffer.read())
            print(csr.is_signature_valid, csr.subject.rfc4514_string(), len(csr.attributes))
            """
        let output = try Tool.run(["python3", "-c", program], in: scratch, input: new.certificateSigningRequest)
        #expect(String(decoding: output, as: UTF8.self) == "True CN=\(CustodyFixture.merchant) 0\n")
    }

    @Test func `an identifier that is too long for a common name is put in the user identifier`() throws {
        let scratch = try Scratch()
        let long = try #require(MerchantIdentifier("merchant." + String(repeating: "x", count: 200)))
        let new = try CustodyFixture().generate(for: long)
        _ = try scratch.file("csr.der", new.certificateSigningRequest)
        try Tool.openssl("req -verify -inform DER -in csr.der -noout", in: scratch)
        let subject = try Tool.openssl("req -inform DER -in csr.der -noout -subject", in: scratch)
        #expect(String(decoding: subject, as: UTF8.self) == "subject=UID = \(long)\n")
    }

    @Test func `an identity key pair on P-256 is refused with what was found and expected`() throws {
        let error = try #require(refusal { try CustodyFixture().generate(.ecV1, purpose: .identity) })
        #expect(error.code == .keyUnsupported)
        #expect(error.detail.contains("P-256") && error.detail.contains("RSA-2048"))
    }

    @Test func `generated key pairs are different`() throws {
        let fixture = try CustodyFixture()
        let hashes = try (0..<500).map { _ in try fixture.generate().publicKeyHash }
        #expect(Set(hashes).count == hashes.count)
    }

    @Test(arguments: kinds)
    func `an exported key is PKCS#8 that openssl accepts, with the same public half`(
        kind: (KeyAlgorithm, KeyPurpose)
    ) throws {
        let scratch = try Scratch()
        let fixture = try CustodyFixture()
        let new = try fixture.generate(kind.0, purpose: kind.1)
        let pem = try fixture.export(new.publicKeyHash)
        _ = try scratch.file("key.pem", pem)
        try Tool.openssl("pkey -in key.pem -check -noout", in: scratch)
        #expect(try Tool.openssl("pkey -in key.pem -pubout -outform DER", in: scratch) == new.subjectPublicKeyInfo)
        // The same bytes as openssl writes.
        #expect(try Tool.openssl("pkey -in key.pem", in: scratch) == pem)
    }
}
