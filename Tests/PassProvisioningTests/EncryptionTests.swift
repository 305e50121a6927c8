import Crypto
import FoundationEssentials
import PassProvisioning
import Secrets
import Testing

@Suite struct EncryptionTests {
    let leafKey = P256.KeyAgreement.PrivateKey()

    private var recipient: VerifiedProvisioningCertificates {
        VerifiedProvisioningCertificates(uncheckedLeafPublicKey: leafKey.publicKey)
    }

    private func encrypt(_ text: String) throws -> EncryptedPass {
        try ProvisioningAttempt().encrypt(SecretBytes(copying: text.utf8), for: recipient)
    }

    private func decrypt(_ pass: EncryptedPass, _ key: P256.KeyAgreement.PrivateKey) throws -> String {
        try PassDecryption.withPlaintext(of: pass, privateKey: key) { String(decoding: $0, as: UTF8.self) }
    }

    @Test func `the leaf's private key decrypts what was encrypted to a verified chain`() throws {
        let chain = try TestChain()
        let certificates = try ProvisioningCertificates(chain.sent()).verified(trust: chain.trust(), at: TestChain.now)
        let text = #"{"name":"Zoë Müller"}"#
        let pass = try ProvisioningAttempt().encrypt(SecretBytes(copying: text.utf8), for: certificates)
        #expect(try decrypt(pass, chain.leafKey) == text)
    }

    @Test func `each attempt has its own key pair, and the output has the lengths of the scheme`() throws {
        let text = String(repeating: "a", count: 300)
        let passes = try (0..<10).map { _ in try encrypt(text) }
        #expect(Set(passes.map(\.ephemeralPublicKey)).count == 10)
        #expect(Set(passes.map(\.encryptedPassData)).count == 10)
        for pass in passes {
            #expect(pass.encryptedPassData.count == 300 + 16)
            #expect(pass.ephemeralPublicKey.count == 65)
            #expect(pass.ephemeralPublicKeyBase64.hasPrefix("B"))
        }
    }

    @Test func `EV_RSA_v2 and empty card data are refused`() throws {
        #expect(throws: PassEncryptionError.unsupportedEncryptionVersion(.rsaV2)) {
            try ProvisioningAttempt().encrypt(SecretBytes(copying: [1]), for: recipient, version: .rsaV2)
        }
        #expect(throws: PassEncryptionError.emptyPlaintext) {
            try ProvisioningAttempt().encrypt(SecretBytes(copying: []), for: recipient)
        }
        #expect(EncryptionVersion(rawValue: "EV_RSA_v2") == .rsaV2)
        #expect(EncryptionVersion(rawValue: "EV_ECC_v2") == .eccV2)
    }

    @Test func `every changed byte is detected`() throws {
        let pass = try encrypt("card")
        for index in pass.encryptedPassData.indices {
            var changed = pass.encryptedPassData
            changed[index] ^= 1
            expectFailure(EncryptedPass(encryptedPassData: changed, ephemeralPublicKey: pass.ephemeralPublicKey))
        }
        for index in pass.ephemeralPublicKey.indices {
            var changed = pass.ephemeralPublicKey
            changed[index] ^= 1
            expectFailure(EncryptedPass(encryptedPassData: pass.encryptedPassData, ephemeralPublicKey: changed))
        }
    }

    @Test func `other encodings of the ephemeral key and truncated data give the same error`() throws {
        let pass = try encrypt("card")
        let key = try P256.KeyAgreement.PublicKey(x963Representation: pass.ephemeralPublicKey)
        let otherKeys = [
            Data(), key.derRepresentation, key.compressedRepresentation, key.rawRepresentation,
            pass.ephemeralPublicKey + [0], pass.ephemeralPublicKey.dropLast(), Data([4]) + Data(count: 64),
            P256.KeyAgreement.PrivateKey().publicKey.x963Representation,
        ]
        for other in otherKeys {
            expectFailure(EncryptedPass(encryptedPassData: pass.encryptedPassData, ephemeralPublicKey: other))
        }
        for length in [0, 1, 15, 16, 17, pass.encryptedPassData.count - 1] {
            let truncated = pass.encryptedPassData.prefix(length)
            expectFailure(EncryptedPass(encryptedPassData: truncated, ephemeralPublicKey: pass.ephemeralPublicKey))
        }
        #expect(throws: PassDecryptionError.decryptionFailed) {
            try decrypt(pass, P256.KeyAgreement.PrivateKey())
        }
        #expect(try decrypt(pass, leafKey) == "card")
    }

    @Test func `slices of larger data decrypt like whole data`() throws {
        let pass = try encrypt("card")
        let sliced = EncryptedPass(
            encryptedPassData: (Data([9]) + pass.encryptedPassData).dropFirst(),
            ephemeralPublicKey: (Data([9]) + pass.ephemeralPublicKey).dropFirst())
        #expect(try decrypt(sliced, leafKey) == "card")
    }

    private func expectFailure(
        _ pass: EncryptedPass, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(throws: PassDecryptionError.decryptionFailed, sourceLocation: sourceLocation) {
            try decrypt(pass, leafKey)
        }
    }
}
