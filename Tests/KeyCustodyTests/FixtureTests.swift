import Crypto
import Foundation
import KeyCustody
import MerchantCore
import Testing
import Vocabulary

/// Real keys, certificates and tokens.
@Suite(.enabled(if: Fixtures.arePresent, "MERCHANTKEYD_FIXTURES is not set"))
struct FixtureTests {
    // swift-format-ignore: NeverForceUnwrap
    static let merchant = MerchantIdentifier("merchant.basistheory.sales")!  // in the required form

    private struct Token: Decodable {
        struct Header: Decodable {
            let ephemeralPublicKey: Data?
            let wrappedKey: Data?
            let publicKeyHash: String
        }
        let data: Data
        let header: Header
    }

    @Test func `the real CSR and the certificate issued for it have the same publicKeyHash`() throws {
        let scratch = try Scratch()
        _ = try scratch.file("csr.pem", try Fixtures.read("rolled-merchant/ec-old.csr.pem"))
        try Tool.openssl("req -in csr.pem -pubkey -noout -out public.pem", in: scratch)
        let info = try Tool.openssl("pkey -pubin -in public.pem -outform DER", in: scratch)
        let facts = try CustodyFixture().custody.readCertificate(try Fixtures.read("rolled-merchant/ec-old.cert.pem"))
        #expect(facts.publicKeyHash == PublicKeyHash(of: info))
        #expect(facts.publicKeyHash.base64 == "aXryfzzhfHFLCl+guEkcYpVd1R+mPYEmmeu1N4aR2Ls=")
    }

    @Test(arguments: ["ec-old", "ec-new", "rsa"])
    func `a real key is imported, matches its certificate and restores its token's symmetric key`(name: String) throws {
        let fixture = try CustodyFixture()
        let new = try fixture.import(try Fixtures.read("rolled-merchant/\(name).key.pem"), for: Self.merchant)
        let facts = try fixture.custody.readCertificate(try Fixtures.read("rolled-merchant/\(name).cert.pem"))
        #expect(new.publicKeyHash == facts.publicKeyHash)
        #expect(facts.merchantIdentifierHash == MerchantIdentifierHash(of: Self.merchant))
        #expect(facts.hasKeyEncipherment && facts.extendedKeyUsages == nil && !facts.isCertificateAuthority)
        #expect(facts.keyTypeName == (name == "rsa" ? "RSA-2048" : "P-256"))

        let file = Data(try Fixtures.read("rolled-merchant/\(name).paymentData.json"))
        let token = try JSONDecoder().decode(Token.self, from: file)
        #expect(token.header.publicKeyHash == new.publicKeyHash.base64)
        let material: SymmetricKeyMaterial =
            if let point = token.header.ephemeralPublicKey { .ephemeralPublicKey(Array(point)) } else {
                .wrappedKey(Array(try #require(token.header.wrappedKey)))
            }
        let key = SymmetricKey(data: try fixture.symmetricKey(new.publicKeyHash, material))
        let box = try AES.GCM.SealedBox(
            nonce: AES.GCM.Nonce(data: [UInt8](repeating: 0, count: 16)), ciphertext: token.data.dropLast(16),
            tag: token.data.suffix(16))
        #expect(
            Array(try AES.GCM.open(box, using: key)) == (try Fixtures.read("rolled-merchant/\(name).expected.json")))
    }
}
