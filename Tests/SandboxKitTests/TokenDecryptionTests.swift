import Foundation
import MerchantTestSupport
import SandboxKit
import Testing
import Vocabulary

@Suite(
    .enabled(
        if: Programs.hasOpenSSL && Programs.hasPythonCryptography,
        "openssl, python3 or its package cryptography is not installed"))
struct TokenDecryptionTests {
    let fixture: SandboxFixture

    init() throws { fixture = try SandboxFixture() }

    private struct Line: Decodable {
        let plaintext: String
        let leadingZero: Bool
        let keyBits: Int
    }

    private func decrypt(_ tokens: [MintedToken], _ key: SandboxFixture.Key) throws -> [Line] {
        let script = try #require(
            Bundle.module.url(forResource: "decrypt_tokens", withExtension: "py", subdirectory: "Scripts"))
        let outcome = try Programs.run(
            ["python3", script.path, fixture.scratch.path("\(key).key.pem"), fixture.merchant.rawValue],
            input: tokens.map { $0.json + "\n" }.joined())
        try #require(outcome.status == 0, "\(outcome.error)")
        return try outcome.output.split(separator: "\n").map {
            try JSONDecoder().decode(Line.self, from: Data($0.utf8))
        }
    }

    @Test(
        "Python's cryptography decrypts tokens of every kind to their plaintext", arguments: SandboxFixture.Key.allCases
    )
    func decrypts(key: SandboxFixture.Key) throws {
        let certificate = try fixture.certificate(key)
        let parameters = try [
            fixture.parameters(),
            fixture.parameters { $0.applicationData = Array("order 4711".utf8) },
            fixture.parameters { $0.dataType = .emv },
            fixture.parameters {
                $0.amount = 0
                $0.currency = "036"
            },
            fixture.parameters { $0.merchantTokenIdentifier = "DAPLMC\"\\\u{1}é" },
            {
                let other = try #require(MerchantIdentifier("merchant.com.example.other"))
                return fixture.parameters { $0.authenticationResponses = [.init(merchant: other, amount: 250)] }
            }(),
        ]
        let tokens = try parameters.map { try fixture.authority.mintToken($0, certificate: certificate) }
        let lines = try decrypt(tokens, key)
        #expect(lines.map(\.plaintext) == tokens.map(\.plaintext))
        #expect(lines.allSatisfy { $0.keyBits == (key == .ec ? 256 : 128) })
    }

    @Test("Python's cryptography decrypts 24 tokens whose shared secret begins with a zero byte")
    func leadingZeros() throws {
        let certificate = try fixture.certificate(.ec)
        let parameters = fixture.parameters { $0.secretBeginsWithZero = true }
        let tokens = try (0..<24).map { _ in try fixture.authority.mintToken(parameters, certificate: certificate) }
        let lines = try decrypt(tokens, .ec)
        #expect(lines.map(\.plaintext) == tokens.map(\.plaintext))
        #expect(lines.count == 24 && lines.allSatisfy(\.leadingZero))
    }
}
