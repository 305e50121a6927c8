import Testing
import Vocabulary

@Suite struct DomainNameTests {
    @Test(arguments: [
        ("shop.example.com", "shop.example.com"), ("SHOP.Example.COM", "shop.example.com"), ("a.b", "a.b"),
        ("xn--bcher-kva.example", "xn--bcher-kva.example"), ("1-2.3.co", "1-2.3.co"),
        ("bücher.example", "xn--bcher-kva.example"), ("BÜCHER.Example", "xn--bcher-kva.example"),
        // The same name in another Unicode normalization, and with full-width dots: UTS #46 maps both.
        ("bu\u{308}cher.example", "xn--bcher-kva.example"), ("bücher\u{FF0E}example", "xn--bcher-kva.example"),
        ("日本語。jp", "xn--wgv71a119e.jp"), ("ｅｘａｍｐｌｅ．ｃｏｍ", "example.com"),
        // Non-transitional processing keeps ß and ς.
        ("straße.example", "xn--strae-oqa.example"), ("ς.example", "xn--3xa.example"),
        ("ä\u{AD}.example", "xn--4ca.example"),
    ])
    func `names are accepted in Unicode and ASCII, and stored in ASCII`(text: String, expected: String) {
        #expect(DomainName(anySpelling: text)?.rawValue == expected)
    }

    @Test(arguments: [
        "", ".", "example", "https://shop.example.com", "https://bücher.example/", "shop.example.com/",
        "bücher.example/x",
        "shop.example.com:443", "bücher.example:443", "shop.example.com.", "bücher.example.", ".example.com",
        "a..example", "ä..example", "-a.example", "ä-.example", "-ä.example", "a_b.example", "ä_b.example",
        "a b.example", "ä b.example", "a@b.example", "ä@b.example", "*.example.com", "192.0.2.1", "1.2.3.４",
        "[2001:db8::1]", "ä%41.example", "a\n.example", "ä\u{0}.example", "\u{200D}ä.example", "ab--ä.example",
        "xn--ä.example", "a\u{2024}b.example", "אa.example",
        String(repeating: "a", count: 64) + ".example", String(repeating: "ä", count: 60) + ".example",
        String(repeating: "a.", count: 126) + "aa", String(repeating: "ä", count: 100_000) + ".example",
    ])
    func `text that is not a domain name is refused`(text: String) {
        #expect(DomainName(anySpelling: text) == nil)
    }

    @Test func `a name of the maximum length is accepted`() {
        let name = String(repeating: "a.", count: 126) + "a"
        #expect(DomainName(anySpelling: name)?.rawValue.utf8.count == DomainName.longest)
    }
}

@Suite struct PartnerInternalMerchantIdentifierTests {
    @Test(arguments: ["abc", "~-_+&@$!|,.;", "...", "Shop-4711", String(repeating: "x", count: 1024)])
    func `every character and length that Apple allows is accepted`(text: String) {
        #expect(PartnerInternalMerchantIdentifier(text)?.rawValue == text)
    }

    @Test(arguments: [
        "", "ab", "a b", "a/b", "a%2Fb", "äbc", "abc\n", "a*b", "a'b", "a\"b", String(repeating: "x", count: 1025),
    ])
    func `text outside Apple's alphabet and lengths is refused`(text: String) {
        #expect(PartnerInternalMerchantIdentifier(text) == nil)
    }
}
