import Testing
import Vocabulary

@Suite struct MerchantIdentifierTests {
    @Test(arguments: [
        "merchant.com.example", "platformintegrator.com.example", "merchant.a-b_c.X9",
        "merchant." + String(repeating: "a", count: 246),
    ])
    func `every form of identifier that Apple documents is accepted`(text: String) {
        #expect(MerchantIdentifier(text)?.rawValue == text)
    }

    @Test(arguments: [
        "", "merchant", "merchant.", "merchant..a", "merchant.a.", "com.example", "Merchant.com.example",
        "merchant.a b",
        "merchant.ä", "merchant.a/b", "merchant.a\n", "merchant." + String(repeating: "a", count: 247),
    ])
    func `text that is not a merchant identifier is refused`(text: String) {
        #expect(MerchantIdentifier(text) == nil)
    }

    @Test func `the hash of an identifier is its SHA-256`() throws {
        let identifier = try #require(MerchantIdentifier("merchant.com.example"))
        // printf merchant.com.example | sha256sum
        #expect(
            MerchantIdentifierHash(of: identifier).hex
                == "224d417877b0ebd0c882c2d68e557a781092803cc75887cc11d2d954d77eac59")
    }
}
