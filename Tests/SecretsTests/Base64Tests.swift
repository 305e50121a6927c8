import Foundation
import Secrets
import Testing

@Suite struct Base64Tests {
    private func decoded(_ text: String) -> [UInt8]? {
        guard let secret = SecretBytes.decoding(base64: text) else { return nil }
        return secret.withUnsafeBytes { Array($0) }
    }

    @Test func `Base64 of every length is decoded`() {
        for count in 1...200 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ count) }
            #expect(decoded(Data(bytes).base64EncodedString()) == bytes)
        }
    }

    @Test(arguments: [
        "", "=", "====", "A", "AA", "AAA", "AA=A", "A===", "AAAA=", "AB==", "AAB=", "AA-_", "AAA\n", "AA A",
    ])
    func `text that is not canonical Base64 is rejected`(text: String) {
        #expect(decoded(text) == nil)
    }

    @Test func `overwriting a shared buffer changes every value that shares it`() {
        let text = String(repeating: "secret ", count: 10 + Int.random(in: 0...1))
        let other = text
        Wipe.sharedBytes(of: text)
        #expect(other.utf8.allSatisfy { $0 == 0 })
        let bytes = [UInt8](repeating: 7, count: 40)
        let same = bytes
        Wipe.sharedBytes(of: bytes)
        #expect(same.allSatisfy { $0 == 0 })
    }
}
