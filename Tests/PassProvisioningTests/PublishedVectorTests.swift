import Crypto
import FoundationEssentials
import PassProvisioning
import Secrets
import Testing
import Vocabulary

@Suite struct PublishedVectorTests {
    private func plaintext() -> SecretBytes { SecretBytes(copying: PublishedVector.plaintext.utf8) }

    @Test func `encrypting the vector's plaintext gives its ciphertext`() throws {
        let attempt = ProvisioningAttempt(ephemeralKey: try PublishedVector.ephemeralKey())
        let pass = try attempt.encrypt(plaintext(), for: PublishedVector.recipient())
        #expect(pass == (try PublishedVector.pass()))
        #expect(pass.encryptedPassDataBase64 == PublishedVector.encryptedPassDataBase64)
        #expect(pass.ephemeralPublicKeyBase64 == PublishedVector.ephemeralPublicKeyBase64)
    }

    @Test func `decrypting the vector's ciphertext gives its plaintext`() throws {
        // ECDH gives the same secret from the ephemeral private key and the leaf's public key.
        let secret = try PublishedVector.ephemeralKey()
            .sharedSecretFromKeyAgreement(with: PublishedVector.leafKey())
        let opened = try PassDecryption.decrypt(PublishedVector.pass(), sharedSecret: secret)
        let text = opened.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        #expect(text == PublishedVector.plaintext)
    }

    @Test func `a trace holds every intermediate value of the vector`() throws {
        let attempt = ProvisioningAttempt(ephemeralKey: try PublishedVector.ephemeralKey())
        let (pass, trace) = try attempt.encryptTraced(plaintext(), for: PublishedVector.recipient())
        #expect(pass == (try PublishedVector.pass()))
        let expected = [
            "leafPublicKey": PublishedVector.leafPublicKey,
            "ephemeralPrivateKey": PublishedVector.ephemeralPrivateKey,
            "ephemeralPublicKey": PublishedVector.ephemeralPublicKey,
            "sharedSecret": PublishedVector.sharedSecret,
            "keyDerivationInput": PublishedVector.keyDerivationInput,
            "symmetricKey": PublishedVector.symmetricKey,
            "initializationVector": String(repeating: "00", count: 12),
            "plaintext": Hex.encode(PublishedVector.plaintext.utf8),
            "ciphertext": String(PublishedVector.encryptedPassData.dropLast(32)),
            "tag": String(PublishedVector.encryptedPassData.suffix(32)),
            "encryptedPassData": PublishedVector.encryptedPassData,
        ]
        #expect(Set(trace.entries.map(\.name)) == Set(expected.keys))
        for (name, value) in expected { #expect(trace[name] == value, "\(name)") }
        #expect(trace.text.contains("\nsharedSecret: \(PublishedVector.sharedSecret)\n"))
    }

    @Test func `a trace does not print its values`() throws {
        let attempt = ProvisioningAttempt(ephemeralKey: try PublishedVector.ephemeralKey())
        let (_, trace) = try attempt.encryptTraced(plaintext(), for: PublishedVector.recipient())
        var dumped = ""
        dump(trace, to: &dumped)
        for text in ["\(trace)", String(reflecting: trace), dumped] {
            #expect(!text.contains(PublishedVector.sharedSecret))
            #expect(text.contains("(redacted)"))
        }
    }
}
