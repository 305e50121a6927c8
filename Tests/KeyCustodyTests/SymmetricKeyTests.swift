import Crypto
import CryptoExtras
import Foundation
import KeyCustody
import MerchantCore
import Testing
import Vocabulary

@Suite struct SymmetricKeyTests {
    /// Apple's key derivation, computed independently.
    private func derive(_ secret: SharedSecret, _ merchant: MerchantIdentifier) -> [UInt8] {
        let z = secret.withUnsafeBytes { Array($0) }
        let party = Array(SHA256.hash(data: Array(merchant.rawValue.utf8)))
        return Array(
            SHA256.hash(data: [0, 0, 0, 1] + z + [13] + Array("id-aes256-GCM".utf8) + Array("Apple".utf8) + party))
    }

    @Test func `an EC_v1 key is restored as the sender derived it, also if the secret begins with zero`() throws {
        let fixture = try CustodyFixture()
        let new = try fixture.generate()
        let recipient = try P256.KeyAgreement.PublicKey(derRepresentation: new.subjectPublicKeyInfo)
        var beganWithZero = 0
        for _ in 0..<3000 {
            let ephemeral = P256.KeyAgreement.PrivateKey()
            let secret = try ephemeral.sharedSecretFromKeyAgreement(with: recipient)
            if secret.withUnsafeBytes({ $0[0] }) == 0 { beganWithZero += 1 }
            let key = try fixture.symmetricKey(
                new.publicKeyHash, .ephemeralPublicKey(Array(ephemeral.publicKey.derRepresentation)))
            #expect(key == derive(secret, CustodyFixture.merchant))
        }
        #expect(beganWithZero > 0)
    }

    @Test(.enabled(if: Tool.hasPython, "needs Python's package cryptography"))
    func `Python derives the same EC_v1 keys, 20 of them from secrets that begin with zero`() throws {
        let fixture = try CustodyFixture()
        let new = try fixture.generate()
        let program = """
            import base64, hashlib, sys
            from cryptography.hazmat.primitives import serialization as s
            from cryptography.hazmat.primitives.asymmetric import ec
            public = s.load_der_public_key(base64.b64decode(sys.argv[1]))
            zeros = 0
            while zeros < 20:
                e = ec.generate_private_key(ec.SECP256R1())
                z = e.exchange(ec.ECDH(), public)
                if z[0]: continue
                zeros += 1
                k = hashlib.sha256(b'\\0\\0\\0\\1' + z + b'\\x0did-aes256-GCMApple'
                    + hashlib.sha256(sys.argv[2].encode()).digest()).digest()
                d = e.public_key().public_bytes(s.Encoding.DER, s.PublicFormat.SubjectPublicKeyInfo)
                print(base64.b64encode(d).decode(), base64.b64encode(k).decode())
            """
        let arguments = [
            "python3", "-c", program, Data(new.subjectPublicKeyInfo).base64EncodedString(),
            CustodyFixture.merchant.rawValue,
        ]
        let lines = String(decoding: try Tool.run(arguments, in: Scratch()), as: UTF8.self).split(separator: "\n")
        #expect(lines.count == 20)
        for line in lines {
            let parts = try line.split(separator: " ").map { Array(try #require(Data(base64Encoded: String($0)))) }
            #expect(try fixture.symmetricKey(new.publicKeyHash, .ephemeralPublicKey(parts[0])) == parts[1])
        }
    }

    @Test func `openssl's OAEP with SHA-256 for label and MGF1 is unwrapped`() throws {
        let scratch = try Scratch()
        let fixture = try CustodyFixture()
        let new = try fixture.generate(.rsaV1)
        _ = try scratch.file("public.der", new.subjectPublicKeyInfo)
        let key = (0..<16).map { _ in UInt8.random(in: 0...255) }
        let wrapped = try Tool.openssl(
            "pkeyutl -encrypt -pubin -keyform DER -inkey public.der -pkeyopt rsa_padding_mode:oaep -pkeyopt rsa_oaep_md:sha256 -pkeyopt rsa_mgf1_md:sha256",
            in: scratch, input: key)
        #expect(try fixture.symmetricKey(new.publicKeyHash, .wrappedKey(wrapped)) == key)
    }

    @Test func `every failed RSA unwrap of 256 bytes has the same error`() throws {
        let fixture = try CustodyFixture()
        let (new, other) = (try fixture.generate(.rsaV1), try fixture.generate(.rsaV1))
        let public2048 = try _RSA.Encryption.PublicKey(derRepresentation: new.subjectPublicKeyInfo)
        let otherPublic = try _RSA.Encryption.PublicKey(derRepresentation: other.subjectPublicKeyInfo)
        let key = [UInt8](repeating: 9, count: 16)
        let wrong: [[UInt8]] = [
            Array(try public2048.encrypt(key, padding: .PKCS1_OAEP)),  // SHA-1
            Array(try otherPublic.encrypt(key, padding: .PKCS1_OAEP_SHA256)),
            Array(try public2048.encrypt(key + key, padding: .PKCS1_OAEP_SHA256)),  // 32 bytes inside
            Array(try public2048.encrypt([UInt8](), padding: .PKCS1_OAEP_SHA256)),
            [UInt8](repeating: 0, count: 256), [UInt8](repeating: 0xff, count: 256),
        ]
        let errors = wrong.map { wrapped in
            refusal { try fixture.symmetricKey(new.publicKeyHash, .wrappedKey(wrapped)) }
        }
        #expect(Set(errors).count == 1)
        #expect(errors.first??.code == .decryptionFailed)
    }

    @Test func `a point that is not on P-256, or not in its canonical encoding, is refused`() throws {
        let fixture = try CustodyFixture()
        let new = try fixture.generate()
        let good = Array(P256.KeyAgreement.PrivateKey().publicKey.derRepresentation)
        func changed(_ change: (inout [UInt8]) -> Void) -> [UInt8] {
            var bytes = good
            change(&bytes)
            return bytes
        }
        let scratch = try Scratch()
        try Tool.openssl("ecparam -name secp256k1 -genkey -noout -out k1.pem", in: scratch)
        try Tool.openssl("ecparam -name prime256v1 -genkey -noout -out r1.pem", in: scratch)
        let bad: [[UInt8]] = [
            [], changed { $0[90] ^= 1 }, changed { $0[60] ^= 1 }, changed { $0[26] = 0x02 },
            changed { $0.replaceSubrange(27..., with: [UInt8](repeating: 0, count: 64)) },
            changed { $0.replaceSubrange(27..., with: [UInt8](repeating: 0xff, count: 64)) },
            good + [0], Array(good.dropLast()), changed { $0[22] = 0x08 }, changed { $0[25] = 1 },
            try Tool.openssl("ec -in k1.pem -pubout -outform DER", in: scratch),
            try Tool.openssl("ec -in r1.pem -pubout -outform DER -conv_form compressed", in: scratch),
            Array(good.suffix(65)),
        ]
        for bytes in bad {
            #expect(
                refusal { try fixture.symmetricKey(new.publicKeyHash, .ephemeralPublicKey(bytes)) }?.code == .malformed)
        }
        #expect(throws: Never.self) { try fixture.symmetricKey(new.publicKeyHash, .ephemeralPublicKey(good)) }
    }

    @Test func `material of the other algorithm, or of another length, is refused as malformed`() throws {
        let fixture = try CustodyFixture()
        let (ec, rsa) = (try fixture.generate(), try fixture.generate(.rsaV1))
        let point = Array(P256.KeyAgreement.PrivateKey().publicKey.derRepresentation)
        let wrapped = [UInt8](repeating: 1, count: 256)
        #expect(refusal { try fixture.symmetricKey(ec.publicKeyHash, .wrappedKey(wrapped)) }?.code == .malformed)
        #expect(refusal { try fixture.symmetricKey(rsa.publicKeyHash, .ephemeralPublicKey(point)) }?.code == .malformed)
        for count in [0, 255, 257] {
            let other = [UInt8](repeating: 1, count: count)
            #expect(refusal { try fixture.symmetricKey(rsa.publicKeyHash, .wrappedKey(other)) }?.code == .malformed)
        }
    }

    @Test(arguments: [
        (KeyState.pending, MerchantError.Code.keyNotFound), (.revoked, .keyRevoked), (.destroyed, .keyDestroyed),
    ])
    func `a key pair that is not active restores no symmetric key`(state: KeyState, code: MerchantError.Code) throws {
        let fixture = try CustodyFixture()
        let new = try fixture.generate(state: state)
        let point = Array(P256.KeyAgreement.PrivateKey().publicKey.derRepresentation)
        #expect(refusal { try fixture.symmetricKey(new.publicKeyHash, .ephemeralPublicKey(point)) }?.code == code)
        #expect(fixture.cache.count == 0)
    }

    @Test func `an identity key restores no symmetric key and is reported as not found`() throws {
        let fixture = try CustodyFixture()
        let identity = try fixture.generate(.rsaV1, purpose: .identity)
        let publicKey = try _RSA.Encryption.PublicKey(derRepresentation: identity.subjectPublicKeyInfo)
        let wrapped = Array(try publicKey.encrypt([UInt8](repeating: 1, count: 16), padding: .PKCS1_OAEP_SHA256))
        let found = refusal { try fixture.symmetricKey(identity.publicKeyHash, .wrappedKey(wrapped)) }
        #expect(found?.code == .keyNotFound)
        let unknown = PublicKeyHash(of: [1])
        let missing = refusal { try fixture.symmetricKey(unknown, .wrappedKey(wrapped)) }
        #expect(found?.detail.replacing(identity.publicKeyHash.base64, with: unknown.base64) == missing?.detail)
    }
}
