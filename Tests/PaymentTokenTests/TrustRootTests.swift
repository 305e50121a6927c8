import Crypto
import FoundationEssentials
import PaymentToken
import Testing

@Suite("Trust roots")
struct TrustRootTests {
    @Test("The built-in root equals the file in etc/trust and has the published fingerprint")
    func builtIn() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "etc/trust/AppleRootCA-G3.pem")
        let roots = try TrustRoot.reading(pem: String(decoding: try Data(contentsOf: file), as: UTF8.self))
        #expect(roots == [.appleRootCAG3])
        #expect(
            TrustRoot.appleRootCAG3.sha256Fingerprint
                == "63343abfb89a6a03ebb57e9b3f5fa7be7c4f5c756f3017b3a8c488c3653e9179")
    }

    @Test("Roots are parsed from PEM with text around the blocks and with LF or CRLF line ends")
    func pem() throws {
        let root = try TestAuthority.shared.trustRoot
        let block = try String(
            decoding: OpenSSL.run(["x509", "-inform", "DER", "-text"], input: root.derRepresentation), as: UTF8.self)
        #expect(try TrustRoot.reading(pem: block + "Bag Attributes\n" + block) == [root, root])
        #expect(try TrustRoot.reading(pem: block.replacing("\n", with: "\r\n")) == [root])
    }

    @Test("Bytes that are not exactly one root certificate are rejected")
    func refused() throws {
        let authority = TestAuthority.shared
        let root = try authority.trustRoot.derRepresentation
        let bad: [[UInt8]] = [
            [], [1, 2, 3], root + [0], root.dropLast(), try authority.signedByRoot(authority.intermediate),
            try authority.signedByIntermediate(authority.leaf(.ecV1)),
        ]
        for bytes in bad {
            let error = #expect(throws: PaymentTokenError.self) { try TrustRoot(derRepresentation: bytes) }
            #expect(error?.code == .invalidTrustRoot)
        }
        for pem in ["", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----", "-----BEGIN CERTIFICATE-----"] {
            let error = #expect(throws: PaymentTokenError.self) { try TrustRoot.reading(pem: pem) }
            #expect(error?.code == .invalidTrustRoot)
        }
    }
}
