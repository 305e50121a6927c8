import Crypto
import Foundation
import MerchantTestSupport
import PassProvisioning
import Secrets
import Testing
import Vocabulary

/// Compares the library with an independent implementation in Python. One Python process handles all attempts.
@Suite(
    .enabled(
        if: ChildProcess.succeeds("python3", "-c", "import cryptography"),
        "python3 or its package cryptography is not installed"))
struct PythonInteroperationTests {
    static let count = 5_000

    /// An attempt of the library for Python to decrypt, and a plaintext for Python to encrypt. All values are in
    /// hexadecimal.
    struct Attempt: Encodable {
        let leafPrivateKey: String
        let plaintext: String
        let encryptedPassData: String
        let ephemeralPublicKey: String
    }

    /// What Python decrypted, and an attempt of Python with the same leaf key and plaintext.
    struct Reply: Decodable {
        let plaintext: String?
        let encryptedPassData: String
        let ephemeralPublicKey: String
    }

    @Test func `the library and Python decrypt 5,000 random attempts of each other`() throws {
        var generator = SeededGenerator(seed: 17)
        var keys: [P256.KeyAgreement.PrivateKey] = []
        var attempts: [Attempt] = []
        for _ in 0..<Self.count {
            let key = P256.KeyAgreement.PrivateKey()
            let length = Int.random(in: 1...200, using: &generator)
            let plaintext = (0..<length).map { _ in UInt8.random(in: 0...255, using: &generator) }
            let pass = try ProvisioningAttempt().encrypt(
                SecretBytes(copying: plaintext),
                for: VerifiedProvisioningCertificates(uncheckedLeafPublicKey: key.publicKey))
            keys.append(key)
            attempts.append(
                Attempt(
                    leafPrivateKey: Hex.encode(key.rawRepresentation), plaintext: Hex.encode(plaintext),
                    encryptedPassData: Hex.encode(pass.encryptedPassData),
                    ephemeralPublicKey: Hex.encode(pass.ephemeralPublicKey)))
        }
        let replies = try Self.runPython(attempts)
        try #require(replies.count == Self.count)
        var decryptedByPython = 0
        var decryptedByLibrary = 0
        for (index, reply) in replies.enumerated() {
            if reply.plaintext == attempts[index].plaintext { decryptedByPython += 1 }
            let pass = EncryptedPass(
                encryptedPassData: Data(try #require(Hex.decode(reply.encryptedPassData))),
                ephemeralPublicKey: Data(try #require(Hex.decode(reply.ephemeralPublicKey))))
            let plaintext = try? PassDecryption.withPlaintext(of: pass, privateKey: keys[index]) { Hex.encode($0) }
            if plaintext == attempts[index].plaintext { decryptedByLibrary += 1 }
        }
        #expect(decryptedByPython == Self.count)
        #expect(decryptedByLibrary == Self.count)
    }

    private static func runPython(_ attempts: [Attempt]) throws -> [Reply] {
        let script = try #require(
            Bundle.module.path(forResource: "provisioning_attempts", ofType: "py", inDirectory: "Scripts"))
        let encoder = JSONEncoder()
        var input = Data()
        for attempt in attempts {
            input.append(try encoder.encode(attempt))
            input.append(UInt8(ascii: "\n"))
        }
        let output = try ChildProcess.output(of: ["python3", script], input: input)
        return try output.split(separator: UInt8(ascii: "\n")).map {
            try JSONDecoder().decode(Reply.self, from: Data($0))
        }
    }
}
