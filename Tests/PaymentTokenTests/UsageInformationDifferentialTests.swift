import Crypto
import Foundation
import MerchantTestSupport
import PaymentToken
import Testing
import Vocabulary

/// Compares the library's encryption with an implementation of HPKE (RFC 9180) in Python. Python decrypts what the
/// library encrypts, and swift-crypto decrypts what Python encrypts.
@Suite(
    "Usage information in the library and in Python",
    .enabled(if: Python.hasCryptography, "python3 or its package cryptography is not installed"))
struct UsageInformationDifferentialTests {
    static let count = 300

    /// The private keys of a merchant and of a merchant token, the token's identifier, and the content to encrypt. Each
    /// subject has its own keys.
    private struct Subject {
        let merchant = P384.KeyAgreement.PrivateKey()
        let token = P384.KeyAgreement.PrivateKey()
        let identifier: String
        let content: [UInt8]

        init(_ generator: inout SeededGenerator) {
            let characters = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~+=:")
            identifier = String(
                (0..<Int.random(in: 1...64, using: &generator)).compactMap { _ in
                    characters.randomElement(using: &generator)
                })
            content = (0..<Int.random(in: 0...2_984, using: &generator)).map { _ in
                UInt8.random(in: .min ... .max, using: &generator)
            }
        }

        func encrypt() throws -> MerchantTokenUsageInformation {
            try MerchantTokenUsageInformation(
                encrypting: content, merchantTokenIdentifier: identifier,
                merchantTokenPublicKey: Array(token.publicKey.x963Representation), merchantPrivateKey: merchant)
        }
    }

    private struct Operation: Encodable {
        let operation: String
        let identifier: String
        var tokenPublicKey: String?
        var tokenPrivateKey: String?
        var merchantPublicKey: String?
        var merchantPrivateKey: String?
        var content: String?
        var information: [String: String]?
    }

    private struct Opened: Decodable { let content: String? }

    @Test("Python decrypts what the library encrypted, and rejects it after a change")
    func encryptedByLibrary() throws {
        var generator = SeededGenerator(seed: MutationTests.seed &+ 12)
        let subjects = (0..<Self.count).map { _ in Subject(&generator) }
        var operations: [Operation] = []
        for (index, subject) in subjects.enumerated() {
            let encoded = try JSONEncoder().encode(subject.encrypt())
            var information = try JSONDecoder().decode([String: String].self, from: encoded)
            // Every third package is changed.
            if index % 3 == 2 {
                let name = try #require(information.keys.sorted().randomElement(using: &generator))
                let other = try JSONEncoder().encode(Subject(&generator).encrypt())
                information[name] = try JSONDecoder().decode([String: String].self, from: other)[name].map {
                    name == "ciphersuite" ? $0 + "_2" : $0
                }
            }
            operations.append(
                Operation(
                    operation: "open", identifier: subject.identifier,
                    tokenPrivateKey: Hex.encode(subject.token.rawRepresentation),
                    merchantPublicKey: Hex.encode(subject.merchant.publicKey.x963Representation),
                    information: information))
        }
        let results: [Opened] = try Self.runPython(operations)
        try #require(results.count == Self.count)
        for (index, (subject, result)) in zip(subjects, results).enumerated() {
            #expect(result.content == (index % 3 == 2 ? nil : Hex.encode(subject.content)))
        }
    }

    @Test("swift-crypto decrypts what Python encrypted, and the library and Python compute the same hashes")
    func encryptedByPython() throws {
        var generator = SeededGenerator(seed: MutationTests.seed &+ 13)
        let subjects = (0..<Self.count).map { _ in Subject(&generator) }
        let results: [[String: String]] = try Self.runPython(
            subjects.map {
                Operation(
                    operation: "seal", identifier: $0.identifier,
                    tokenPublicKey: Hex.encode($0.token.publicKey.x963Representation),
                    merchantPrivateKey: Hex.encode($0.merchant.rawRepresentation), content: Hex.encode($0.content))
            })
        try #require(results.count == Self.count)
        for (subject, result) in zip(subjects, results) {
            let content = try UsageInformationTests.open(
                data: try #require(result["data"]), ephemeralPublicKey: try #require(result["ephemeralPublicKey"]),
                identifier: subject.identifier, token: subject.token, merchant: subject.merchant.publicKey)
            #expect(content == subject.content)
            let own = try subject.encrypt()
            #expect(result["ciphersuite"] == own.ciphersuite && result["infoHash"] == own.infoHash)
            #expect(result["merchantPublicKeyHash"] == own.merchantPublicKeyHash)
            #expect(result["merchantTokenPublicKeyHash"] == own.merchantTokenPublicKeyHash)
        }
    }

    private static func runPython<Result: Decodable>(_ operations: [Operation]) throws -> [Result] {
        let directory = FileManager.default.temporaryDirectory.appending(path: "usage-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let lines = try operations.map { String(decoding: try JSONEncoder().encode($0), as: UTF8.self) + "\n" }
        try Data(lines.joined().utf8).write(to: directory.appending(path: "operations"))
        let script = try #require(
            Bundle.module.path(forResource: "usage_information", ofType: "py", inDirectory: "Scripts"))
        return try Python.run([script], in: directory, input: "operations").split(separator: "\n").map {
            try JSONDecoder().decode(Result.self, from: Data($0.utf8))
        }
    }
}
