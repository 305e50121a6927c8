import Crypto
import FoundationEssentials
import PaymentToken
import Testing
import Vocabulary

@Suite("Decrypting a payment token")
struct DecryptionTests {
    @Test("A decrypted token yields the exact plaintext", arguments: ApplePayToken.Version.allCases)
    func exact(_ version: ApplePayToken.Version) throws {
        let token = try TestMint(version: version).token()
        let opened = try token.decrypt(with: TestMint.restoredKey(of: token))
        #expect(opened.withPlaintext { String(decoding: $0, as: UTF8.self) } == TestMint.plaintext)
        #expect(opened.count == TestMint.plaintext.utf8.count)
    }

    @Test("A token whose shared secret begins with a zero byte can be decrypted")
    func leadingZero() throws {
        var found = 0
        while found < 2 {
            let key = P256.KeyAgreement.PrivateKey()
            let secret = try key.sharedSecretFromKeyAgreement(with: TestMint.merchantKey.publicKey)
            guard secret.withUnsafeBytes({ $0.first }) == 0 else { continue }
            found += 1
            let token = try TestMint(ephemeralKey: key).token()
            let opened = try token.decrypt(with: TestMint.restoredKey(of: token))
            #expect(opened.count == TestMint.plaintext.utf8.count)
        }
    }

    @Test("The derived key is that of OpenSSL's SSKDF")
    func derivation() throws {
        let identifier = try #require(MerchantIdentifier(TestMint.merchantIdentifier))
        let secret = try P256.KeyAgreement.PrivateKey()
            .sharedSecretFromKeyAgreement(with: TestMint.merchantKey.publicKey)
        let information =
            [0x0D] + Array("id-aes256-GCM".utf8) + Array("Apple".utf8) + MerchantIdentifierHash(of: identifier).bytes
        let expected = try OpenSSL.run([
            "kdf", "-keylen", "32", "-kdfopt", "digest:SHA256", "-kdfopt",
            "hexkey:\(secret.withUnsafeBytes { Hex.encode($0) })", "-kdfopt", "hexinfo:\(Hex.encode(information))",
            "-binary", "SSKDF",
        ])
        let derived = try SymmetricKeyDerivation.symmetricKey(
            sharedSecret: secret, merchantIdentifier: identifier.rawValue)
        #expect(derived.withUnsafeBytes { Array($0) } == expected)
    }

    @Test("Ciphertext made with a 12-byte initialization vector or a hexadecimal merchant hash cannot be decrypted")
    func otherSealing() throws {
        let mint = TestMint()
        var parts = try mint.parts()
        let key = try TestMint.restoredKey(of: parts.token())
        let plaintext = Array(TestMint.plaintext.utf8)
        let short = try AES.GCM.seal(
            plaintext, using: key, nonce: AES.GCM.Nonce(data: [UInt8](repeating: 0, count: 12)))
        parts.data = Array(short.ciphertext + short.tag)
        let refused = #expect(throws: PaymentTokenError.self) { _ = try parts.token().decrypt(with: key) }
        #expect(refused?.code == .decryptionFailed)

        let secret = try mint.ephemeralKey.sharedSecretFromKeyAgreement(with: TestMint.merchantKey.publicKey)
        var hash = SHA256()
        hash.update(data: [0, 0, 0, 1])
        secret.withUnsafeBytes { hash.update(bufferPointer: $0) }
        hash.update(data: [0x0D] + Array("id-aes256-GCMApple".utf8))
        hash.update(data: Array(Hex.encode(SHA256.hash(data: Array(TestMint.merchantIdentifier.utf8))).utf8))
        let sealed = try AES.GCM.seal(
            plaintext, using: SymmetricKey(data: hash.finalize()),
            nonce: AES.GCM.Nonce(data: [UInt8](repeating: 0, count: 16)))
        parts.data = Array(sealed.ciphertext + sealed.tag)
        #expect(throws: PaymentTokenError.self) { _ = try parts.token().decrypt(with: key) }
    }

    @Test("A symmetric key of the other version's length is rejected", arguments: ApplePayToken.Version.allCases)
    func length(_ version: ApplePayToken.Version) throws {
        let token = try TestMint(version: version).token()
        let key = SymmetricKey(size: version == .ecV1 ? .bits128 : .bits256)
        let error = #expect(throws: PaymentTokenError.self) { _ = try token.decrypt(with: key) }
        #expect(error?.code == .wrongKeyLength)
    }

    @Test(
        "A wrong key, a modified tag and modified data give the same error", arguments: ApplePayToken.Version.allCases)
    func sameError(_ version: ApplePayToken.Version) throws {
        let mint = TestMint(version: version)
        var errors: Set<PaymentTokenError> = []
        let valid = try mint.parts()
        let key = try TestMint.restoredKey(of: valid.token())
        var (changedTag, changedData) = (valid, valid)
        changedTag.data[valid.data.count - 1] ^= 1
        changedData.data[0] ^= 1
        let otherKey = SymmetricKey(size: version == .ecV1 ? .bits256 : .bits128)
        for (parts, key) in [(changedTag, key), (changedData, key), (valid, otherKey)] {
            let error = #expect(throws: PaymentTokenError.self) { _ = try parts.token().decrypt(with: key) }
            errors.insert(try #require(error))
        }
        #expect(errors.map(\.code) == [.decryptionFailed])
    }

    @Test("A key cannot be derived for an invalid merchant identifier")
    func identifier() throws {
        let secret = try P256.KeyAgreement.PrivateKey()
            .sharedSecretFromKeyAgreement(with: TestMint.merchantKey.publicKey)
        let error = #expect(throws: PaymentTokenError.self) {
            try SymmetricKeyDerivation.symmetricKey(sharedSecret: secret, merchantIdentifier: "com.example")
        }
        #expect(error?.code == .malformed)
    }
}
