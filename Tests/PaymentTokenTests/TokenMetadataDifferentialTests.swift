import Crypto
import CryptoExtras
import Foundation
import MerchantTestSupport
import PaymentToken
import Testing
import Vocabulary

/// Compares the library with an independent implementation in Python, on messages that Python or the tests minted.
@Suite(
    "Token metadata in the library and in Python",
    .enabled(if: Python.hasCryptography, "python3 or its package cryptography is not installed"))
struct TokenMetadataDifferentialTests {
    /// The first line of the Python script's output.
    private struct Keys: Decodable {
        let root: String
        let ec: String
        let rsa: String
        let merchantIdentifier: String

        func symmetricKey(of metadata: EncryptedTokenMetadata) throws -> SymmetricKey {
            switch metadata.keyMaterial {
            case .ephemeralPublicKey(let sender):
                try SymmetricKeyDerivation.symmetricKey(
                    sharedSecret: P256.KeyAgreement.PrivateKey(pemRepresentation: ec)
                        .sharedSecretFromKeyAgreement(with: sender.agreementKey),
                    merchantIdentifier: merchantIdentifier)
            case .wrappedKey(let wrapped):
                SymmetricKey(
                    data: try _RSA.Encryption.PrivateKey(pemRepresentation: rsa)
                        .decrypt(wrapped.bytes, padding: .PKCS1_OAEP_SHA256))
            }
        }

        func publicKeyHash(_ version: ApplePayToken.Version) throws -> String {
            let key =
                switch version {
                case .ecV1: try P256.KeyAgreement.PrivateKey(pemRepresentation: ec).publicKey.derRepresentation
                case .rsaV1: try _RSA.Encryption.PrivateKey(pemRepresentation: rsa).publicKey.derRepresentation
                }
            return Data(SHA256.hash(data: key)).base64EncodedString()
        }
    }

    private struct Minted: Decodable {
        let metadata: String
        let expirationDate: String
        let mpan: String
        let mpanId: String?
    }

    @Test("The library verifies and decrypts 200 messages that Python and openssl cms made")
    func mintedByPython() throws {
        let directory = try temporaryDirectory()
        defer { try? FileManager.default.removeItem(at: directory) }
        let script = try #require(
            Bundle.module.path(forResource: "mint_token_metadata", ofType: "py", inDirectory: "Scripts"))
        let lines = try Python.run([script, directory.path, "200", "\(MutationTests.seed)"], in: directory, input: nil)
            .split(separator: "\n").map { Data($0.utf8) }
        let keys = try JSONDecoder().decode(Keys.self, from: try #require(lines.first))
        let verifier = SignatureVerifier(
            environment: TokenEnvironment.production, trustRoots: try TrustRoot.reading(pem: keys.root))
        var versions: Set<ApplePayToken.Version> = []
        for line in lines.dropFirst() {
            let minted = try JSONDecoder().decode(Minted.self, from: line)
            let metadata = try EncryptedTokenMetadata(parsing: Array(minted.metadata.utf8))
            versions.insert(metadata.version)
            #expect(verifier.verify(metadata, receivedAt: Date()).unpassedChecks == [])
            #expect(try metadata.publicKeyHashBase64 == keys.publicKeyHash(metadata.version))
            let decrypted = try metadata.decrypt(with: keys.symmetricKey(of: metadata))
            #expect(decrypted.expirationDate == minted.expirationDate)
            #expect(decrypted.mpanIdentifier == minted.mpanId)
            #expect(decrypted.withMPAN { String(decoding: $0, as: UTF8.self) } == minted.mpan)
        }
        #expect(lines.count == 201 && versions.count == 2)
    }

    /// A message and the time at which it is received, in seconds since 1970.
    private struct Case: Encodable {
        let metadata: String
        let receivedAt: Int
    }

    @Test("The library and Python agree on 600 valid and invalid messages: accepted or not, and the plaintext")
    func agree() throws {
        var generator = SeededGenerator(seed: MutationTests.seed &+ 11)
        let cases = try (0..<600).map { _ in try Self.makeCase(&generator) }
        let results = try DifferentialTests.runPython(cases)
        try #require(results.count == cases.count)
        let verifier = SignatureVerifier(
            environment: TokenEnvironment.production, trustRoots: [try TestAuthority.shared.trustRoot])
        var accepted = 0
        for (item, result) in zip(cases, results) {
            let plaintext = Self.runLibrary(item, verifier)
            #expect((plaintext != nil) == result.accepted, "Python: \(result.reason ?? "accepted")\n\(item.metadata)")
            // Python prints the whole plaintext, the library only fields.
            if let plaintext, let other = result.plaintext.flatMap({ Data(base64Encoded: $0) }) {
                accepted += 1
                #expect(String(decoding: other, as: UTF8.self) == plaintext)
            }
        }
        // Enough messages are accepted and enough are rejected for the comparison to be meaningful.
        #expect(accepted > 150 && accepted < 450)
    }

    private static func makeCase(_ generator: inout SeededGenerator) throws -> Case {
        let version = try #require(ApplePayToken.Version.allCases.randomElement(using: &generator))
        let digits = (0..<Int.random(in: 8...19, using: &generator)).map { _ in
            String(Int.random(in: 0...9, using: &generator))
        }
        let mint = TestMint.ofMetadata(version, plaintext: text(expirationDate: "310131", mpan: digits.joined()))
        var parts = try mint.metadataParts()
        var receivedAt = Int(TestMint.signedAt.millisecondsSince1970 / 1000)
        let other = try TestMint.ofMetadata(version).metadataParts()
        switch Int.random(in: 0..<16, using: &generator) {
        case 0: parts.data = generator.mutated(parts.data, splicing: other.data)
        case 1: parts.keyMaterial = generator.mutated(parts.keyMaterial, splicing: other.keyMaterial)
        case 2, 3: parts.signature = generator.mutated(parts.signature, splicing: other.signature)
        case 4: parts.signature = other.signature
        case 5:
            let token = try TestMint(version: version, plaintext: TestMint.metadataPlaintext).parts()
            (parts.keyMaterial, parts.signature) = (token.keyMaterial, token.signature)
            parts.data = token.data + (Bool.random(using: &generator) ? token.transactionId : [])
        case 6: parts.publicKeyHash[0] ^= 1
        case 7: parts.version = ["EC_v1", "RSA_v1", "EC_v2"].randomElement(using: &generator)
        case 8: receivedAt += [-301, -300, 300, 301].randomElement(using: &generator) ?? 0
        default: break
        }
        return Case(metadata: parts.json, receivedAt: receivedAt)
    }

    private static func text(expirationDate: String, mpan: String) -> String {
        #"{"expirationDate":"\#(expirationDate)","mpan":"\#(mpan)"}"#
    }

    /// - Returns: the plaintext; nil for a rejected message.
    private static func runLibrary(_ item: Case, _ verifier: SignatureVerifier) -> String? {
        guard let metadata = try? EncryptedTokenMetadata(parsing: Array(item.metadata.utf8)),
            verifier.verify(metadata, receivedAt: Date(timeIntervalSince1970: TimeInterval(item.receivedAt)))
                .isVerified,
            TestMint.publicKeyHashes.contains(metadata.publicKeyHashBase64),
            let key = try? TestMint.restoredKey(of: metadata), let decrypted = try? metadata.decrypt(with: key)
        else { return nil }
        return text(
            expirationDate: decrypted.expirationDate,
            mpan: decrypted.withMPAN { String(decoding: $0, as: UTF8.self) })
    }

    private func temporaryDirectory() throws -> URL {
        let directory = FileManager.default.temporaryDirectory.appending(path: "metadata-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        return directory
    }
}
