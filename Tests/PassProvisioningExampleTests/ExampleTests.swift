import Foundation
import PassProvisioning
import Testing

/// Tests the article's example in a target that can only use the public API of the library.
@Suite struct ExampleTests {
    static let sources = URL(filePath: #filePath).deletingLastPathComponent()

    @Test func `the DocC article EncryptACard contains no other Swift code than the compiled source`() throws {
        let compiled = try String(
            contentsOf: Self.sources.appending(path: "EncryptCardExample.swift"), encoding: .utf8)
        let article = try String(
            contentsOf: Self.sources.appending(
                path: "../../Sources/PassProvisioning/PassProvisioning.docc/EncryptACard.md"
            ).standardizedFileURL, encoding: .utf8)
        let blocks = article.components(separatedBy: "```swift\n").dropFirst()
            .compactMap { $0.components(separatedBy: "```").first }
        #expect(!blocks.isEmpty)
        for block in blocks { #expect(compiled.contains(block), "\(block)") }
    }

    @Test func `invalid certificates stop the example before it reads the card`() {
        let root = ProvisioningTrust.appleRootCAG3.base64EncodedString()
        #expect(throws: CertificateFinding.sameCertificateTwice) {
            try encryptCard([], certificates: [root, root], nonce: "", nonceSignature: "")
        }
    }
}
