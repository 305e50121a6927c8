import Foundation
import MerchantKeyClient
import PaymentToken
import Testing

/// Tests the documents' example in a target that can only use the public API of the libraries.
@Suite("The documents' example of the library PaymentToken")
struct ExampleTests {
    static let sources = URL(filePath: #filePath).deletingLastPathComponent()

    @Test("The example in docs/decryptor-api.md equals the compiled source")
    func sameText() throws {
        let document = try String(
            contentsOf: Self.sources.appending(path: "../../docs/decryptor-api.md").standardizedFileURL, encoding: .utf8
        )
        let source = try String(contentsOf: Self.sources.appending(path: "OpenTokenExample.swift"), encoding: .utf8)
        let example = try #require(
            source.components(separatedBy: "// example begins\n").last?.components(separatedBy: "// example ends").first
        )
        #expect(example.contains("PaymentTokenOpener("))
        #expect(document.contains("```swift\n\(example)```"))
    }

    @Test("The libraries' listed DocC articles contain no other Swift code than the compiled sources")
    func articles() throws {
        let compiled = try ["OpenTokenExample.swift", "TakePaymentExample.swift", "TokenMetadataExample.swift"].map {
            try String(contentsOf: Self.sources.appending(path: $0), encoding: .utf8)
        }
        for article in [
            "PaymentToken/PaymentToken.docc/TakeAPayment.md",
            "PaymentToken/PaymentToken.docc/ReadTokenMetadata.md",
            "MerchantKeyClient/MerchantKeyClient.docc/DecryptWithTheDaemon.md",
        ] {
            let text = try String(
                contentsOf: Self.sources.appending(path: "../../Sources/\(article)").standardizedFileURL,
                encoding: .utf8)
            let blocks = text.components(separatedBy: "```swift\n").dropFirst()
                .compactMap { $0.components(separatedBy: "```").first }
            #expect(!blocks.isEmpty, "\(article)")
            for block in blocks { #expect(compiled.contains { $0.contains(block) }, "\(article): \(block)") }
        }
    }

    /// A well-formed token without a valid signature.
    static func token(publicKeyHash: String) -> Data {
        let point =
            "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEXBmNoIo6rFDovMSy66eTAyouNqnWpx41puImWuD7n711chpx8n9Dto8Gdpjgmiaqn/9JVD3MuZt1maL5jKa0wA=="
        return Data(
            #"{"version":"EC_v1","data":"AAECAwQFBgcICQoLDA0ODxAREhM=","signature":"AwQ=","header":{"publicKeyHash":"\#(publicKeyHash)","ephemeralPublicKey":"\#(point)","transactionId":"\#(String(repeating: "0a", count: 32))"}}"#
                .utf8)
    }

    @Test("A token that Apple did not sign is rejected before a key is looked up, and claims nothing")
    func rejected() async throws {
        // No server listens on this socket, so looking a key up would fail with another error.
        try await DecryptorClient.with(socketPath: "/nonexistent/decryptor.sock") { keys in
            let opener = makeOpener(keys: keys) { _ in Issue.record("claimed") }
            let json = Self.token(publicKeyHash: Data(repeating: 1, count: 32).base64EncodedString())
            let error = await #expect(throws: PaymentTokenError.self) { try await charge(json, with: opener) }
            #expect(error?.code == .verificationFailed)
        }
    }

    @Test("Token metadata that Apple did not sign is rejected before a key is requested")
    func rejectedMetadata() async throws {
        // No server listens on this socket, so a request would fail with another error.
        try await DecryptorClient.with(socketPath: "/nonexistent/decryptor.sock") { keys in
            let point =
                "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEXBmNoIo6rFDovMSy66eTAyouNqnWpx41puImWuD7n711chpx8n9Dto8Gdpjgmiaqn/9JVD3MuZt1maL5jKa0wA=="
            let hash = Data(repeating: 1, count: 32).base64EncodedString()
            let json = Data(
                #"{"data":"AAECAwQFBgcICQoLDA0ODxAREhM=","signature":"AwQ=","publicKeyHash":"\#(hash)","ephemeralPublicKey":"\#(point)"}"#
                    .utf8)
            let verifier = SignatureVerifier(environment: TokenEnvironment.production)
            let error = await #expect(throws: PaymentTokenError.self) {
                _ = try await readTokenMetadata(json, notifiedAt: Date(), verifier: verifier, keys: keys)
            }
            #expect(error?.code == .verificationFailed)
        }
    }
}
