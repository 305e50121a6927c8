import Foundation
import SandboxKit
import Testing
import Vocabulary

@Suite(
    .enabled(
        if: Programs.hasOpenSSL && Programs.hasPythonCryptography,
        "openssl, python3 or its package cryptography is not installed"))
struct TokenDecryptionTests {
    let bench: Bench

    init() throws { bench = try Bench() }

    private struct Line: Decodable {
        let plaintext: String
        let leadingZero: Bool
        let keyBits: Int
    }

    private func decrypt(_ tokens: [MintedToken], _ key: Bench.Key) throws -> [Line] {
        let script = try #require(
            Bundle.module.url(forResource: "decrypt_tokens", withExtension: "py", subdirectory: "Scripts"))
        let outcome = try Programs.run(
            ["python3", script.path, bench.scratch.path("\(key).key.pem"), bench.merchant.rawValue],
            input: tokens.map { $0.json + "\n" }.joined())
        try #require(outcome.status == 0, "\(outcome.error)")
        return try outcome.output.split(separator: "\n").map {
            try JSONDecoder().decode(Line.self, from: Data($0.utf8))
        }
    }

    @Test("Python's cryptography decrypts every kind of token to its plaintext", arguments: Bench.Key.allCases)
    func decrypts(key: Bench.Key) throws {
        let certificate = try bench.certificate(key)
        let orders = try [
            bench.order(),
            bench.order { $0.applicationData = Array("order 4711".utf8) },
            bench.order { $0.dataType = .emv },
            bench.order {
                $0.amount = 0
                $0.currency = "036"
            },
            bench.order { $0.merchantTokenIdentifier = "DAPLMC\"\\\u{1}é" },
            {
                let other = try #require(MerchantIdentifier("merchant.com.example.other"))
                return bench.order { $0.authenticationResponses = [.init(merchant: other, amount: 250)] }
            }(),
        ]
        let tokens = try orders.map { try bench.authority.mintToken($0, certificate: certificate) }
        let lines = try decrypt(tokens, key)
        #expect(lines.map(\.plaintext) == tokens.map(\.plaintext))
        #expect(lines.allSatisfy { $0.keyBits == (key == .ec ? 256 : 128) })
    }

    @Test("Python's cryptography decrypts 24 tokens whose shared secret begins with a zero byte")
    func leadingZeros() throws {
        let certificate = try bench.certificate(.ec)
        let order = bench.order { $0.leadingZeroSecret = true }
        let tokens = try (0..<24).map { _ in try bench.authority.mintToken(order, certificate: certificate) }
        let lines = try decrypt(tokens, .ec)
        #expect(lines.map(\.plaintext) == tokens.map(\.plaintext))
        #expect(lines.count == 24 && lines.allSatisfy(\.leadingZero))
    }
}
