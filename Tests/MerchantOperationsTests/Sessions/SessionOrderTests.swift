import MerchantCore
import MerchantOperations
import Testing
import Vocabulary
import WireAPI

@Suite struct SessionOrderTests {
    private static func request(
        name: String = "Shop", initiative: String = "web", context: String = "shop.example.com",
        domainName: String? = nil
    ) -> MerchantSessionRequest {
        var request = MerchantSessionRequest(
            displayName: name, initiative: initiative, initiativeContext: context)
        request.partnerInternalMerchantIdentifier = SessionBench.partner
        request.domainName = domainName
        return request
    }

    @Test(
        "all spellings of a domain name are read as the same name",
        arguments: [
            ("shop.example.com", "shop.example.com"), ("SHOP.Example.COM", "shop.example.com"),
            ("shop.example.com.", "shop.example.com"), ("bücher.example", "xn--bcher-kva.example"),
            ("BÜCHER.example.", "xn--bcher-kva.example"), ("xn--bcher-kva.example", "xn--bcher-kva.example"),
        ])
    func domainSpellings(text: String, domain: String) throws {
        let order = try SessionOrder(Self.request(context: text))
        #expect(order.place == .web(domainNames([domain])[0]))
    }

    @Test(
        "a text that is not a domain name is refused",
        arguments: [
            "", ".", "shop", "https://shop.example.com", "shop.example.com:443", "shop.example.com/", "127.0.0.1",
            "[::1]",
            "shop.example.com..", ".shop.example.com", "shop example.com", "shop.example.com\n", "*.example.com",
            String(repeating: "a.", count: 127) + "example",
        ])
    func wrongDomain(text: String) {
        #expect(throws: MerchantError.self) { try SessionOrder(Self.request(context: text)) }
    }

    @Test(
        "a display name has 1 to 64 bytes (not characters) of UTF-8, is not blank and has no control characters",
        arguments: [
            ("", false), (" ", false), ("A", true), (String(repeating: "A", count: 64), true),
            (String(repeating: "A", count: 65), false), (String(repeating: "ü", count: 32), true),
            (String(repeating: "ü", count: 33), false), (String(repeating: "😀", count: 16), true),
            (String(repeating: "😀", count: 17), false), ("Shop\n", false), ("Shop\u{202E}", false), ("\u{0}", false),
        ])
    func displayName(text: String, isAccepted: Bool) {
        let order = try? SessionOrder(Self.request(name: text))
        #expect(order?.displayName == (isAccepted ? text : nil))
    }

    @Test(
        "the context and the domain name must have the form that the initiative requires",
        arguments: [
            ("web", "shop.example.com", nil, true), ("web", "shop.example.com", "shop.example.com", false),
            ("messaging", "https://bcrw.apple.com/urn:biz:1", "shop.example.com", true),
            ("messaging", "https://bcrw.apple.com/urn:biz:1", "SHOP.example.com.", true),
            ("messaging", "https://bcrw.apple.com/urn:biz:1", nil, false),
            ("messaging", "http://bcrw.apple.com/", "shop.example.com", false),
            ("messaging", "https://", "shop.example.com", false),
            ("messaging", "https://bcrw.apple.com/a b", "shop.example.com", false),
            ("messaging", "https://bcrw.apple.com/\u{e9}", "shop.example.com", false),
            ("messaging", "https://a/" + String(repeating: "a", count: 1_014), "shop.example.com", true),
            ("messaging", "https://a/" + String(repeating: "a", count: 1_015), "shop.example.com", false),
            ("messaging", "https://bcrw.apple.com/", "127.0.0.1", false), ("in_app", "ABCDE12345", nil, true),
            ("in_app", "ABCDE12345", "shop.example.com", false), ("in_app", "abcde12345", nil, false),
            ("in_app", "ABCDE1234", nil, false), ("in_app", "ABCDE123456", nil, false),
            ("in_app", "ABCDE1234\u{661}", nil, false), ("inApp", "ABCDE12345", nil, false),
            ("WEB", "a.example", nil, false),
        ] as [(String, String, String?, Bool)])
    func context(initiative: String, context: String, domainName: String?, isAccepted: Bool) {
        let request = Self.request(initiative: initiative, context: context, domainName: domainName)
        let code: MerchantError.Code?
        do throws(MerchantError) {
            _ = try SessionOrder(request)
            code = nil
        } catch { code = error.code }
        #expect(code == (isAccepted ? nil : .malformed))
    }

    @Test func `an order names exactly one merchant`() throws {
        var request = MerchantSessionRequest(displayName: "Shop", initiative: "in_app", initiativeContext: "ABCDE12345")
        #expect(throws: MerchantError.self) { try SessionOrder(request) }
        request.merchantIdentifier = SessionBench.merchant
        #expect(try SessionOrder(request).merchant == .own(SessionBench.merchant))
        request.partnerInternalMerchantIdentifier = SessionBench.partner
        #expect(throws: MerchantError.self) { try SessionOrder(request) }
        request.merchantIdentifier = nil
        #expect(try SessionOrder(request).merchant == .registered(SessionBench.partner))
    }
}
