import Foundation
import KeyCustody
import MerchantCore
import Testing
import Vocabulary

/// Signing for TLS with identity keys, verified by openssl.
@Suite struct TLSSigningTests {
    let scratch: Scratch
    let fixture: CustodyFixture

    init() throws {
        scratch = try Scratch()
        fixture = try CustodyFixture()
    }

    @Test(arguments: TLSSignatureAlgorithm.rsa)
    func `openssl accepts each signature of an identity key`(algorithm: TLSSignatureAlgorithm) throws {
        let key = try fixture.generate(.rsaV1, purpose: .identity)
        let message = Array("what TLS wants signed".utf8)
        let signature = try fixture.custody.sign(message, with: key.publicKeyHash, algorithm: algorithm)
        #expect(signature.count == 256)
        _ = try scratch.file("signature", signature)
        _ = try scratch.file("message", message)
        _ = try scratch.file("key.der", key.subjectPublicKeyInfo)
        let (digest, options): (String, String) =
            switch algorithm {
            case .rsaPKCS1SHA256: ("sha256", "")
            case .rsaPKCS1SHA384: ("sha384", "")
            case .rsaPKCS1SHA512: ("sha512", "")
            case .rsaPSSSHA256: ("sha256", " -sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:32")
            case .rsaPSSSHA384: ("sha384", " -sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:48")
            case .rsaPSSSHA512: ("sha512", " -sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:64")
            case .ecdsaP256SHA256: ("", "")
            }
        let verdict = try Tool.openssl(
            "dgst -\(digest)\(options) -verify key.der -keyform DER -signature signature message", in: scratch)
        #expect(String(decoding: verdict, as: UTF8.self).contains("Verified OK"))
    }

    @Test func `only an active identity key signs, and only with an algorithm of its key type`() throws {
        func code(_ hash: PublicKeyHash) -> MerchantError.Code? {
            refusal { try fixture.custody.sign([1], with: hash, algorithm: .rsaPSSSHA256) }?.code
        }
        let identity = try fixture.generate(.rsaV1, purpose: .identity).publicKeyHash
        for (state, expected) in [
            (KeyState.pending, MerchantError.Code.keyNotFound), (.standby, nil), (.current, nil), (.retiring, nil),
            (.revoked, .keyRevoked), (.destroyed, .keyDestroyed),
        ] {
            fixture.store.setState(state, of: identity)
            #expect(code(identity) == expected, "\(state)")
        }
        // The server chooses a part of the signed bytes, so a payment processing key must not sign them.
        #expect(code(try fixture.generate(.rsaV1).publicKeyHash) == .keyNotFound)
        #expect(code(try fixture.generate(.ecV1).publicKeyHash) == .keyNotFound)
        #expect(code(PublicKeyHash(of: [1])) == .keyNotFound)
        // An RSA key cannot sign with ECDSA.
        fixture.store.setState(.current, of: identity)
        let wrong = refusal { try fixture.custody.sign([1], with: identity, algorithm: .ecdsaP256SHA256) }
        #expect(wrong?.code == .keyUnsupported)
    }
}
