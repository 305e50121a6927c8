import MerchantCore
import MerchantOperations
import MerchantTestSupport
import Testing
import Vocabulary

@Suite struct ValidationURLTests {
    private static let path = "/paymentservices/paymentSession"
    private static let apple = "apple-pay-gateway.apple.com"

    static let hostile: [String] = [
        // Another server before or after the name.
        "https://\(apple)@attacker.example\(path)", "https://attacker.example@\(apple)\(path)",
        "https://user:password@\(apple)\(path)", "https://:@\(apple)\(path)",
        "https://\(apple):443@attacker.example\(path)",
        "https://\(apple)%40attacker.example\(path)", "https://attacker.example#@\(apple)\(path)",
        "https://attacker.example?@\(apple)\(path)", "https://attacker.example\\@\(apple)\(path)",
        // Ports, also a missing one.
        "https://\(apple):443\(path)", "https://\(apple):8443\(path)", "https://\(apple):\(path)",
        "https://\(apple):0443\(path)", "https://127.0.0.1\(path)", "https://127.0.0.1:443\(path)",
        "https://127.0.0.1:8443:8443\(path)",
        // Names that look like those of Apple's gateway.
        "https://\(apple).attacker.example\(path)", "https://attacker-\(apple)\(path)",
        "https://apple-pay-gateway.apple.com.\(path)", "https://apple-pay-gateway-nc-pod6.apple.com\(path)",
        "https://apple-pay-gateway.apple.co\(path)", "https://apple.com\(path)", "https://www.\(apple)\(path)",
        "https://apple-pay-gateway-cert.apple.com\(path)",
        // Homographs and other spellings of the same name.
        "https://\u{430}pple-pay-gateway.apple.com\(path)", "https://apple-pay-gateway.\u{430}pple.com\(path)",
        "https://xn--pple-pay-gateway-ook.apple.com\(path)", "https://apple-pay-gateway\u{3002}apple\u{3002}com\(path)",
        "https://apple-pay-gateway.apple.c\u{2060}om\(path)", "https://\u{FF41}pple-pay-gateway.apple.com\(path)",
        "https://APPLE-PAY-GATEWAY.apple.com\(path)", "HTTPS://\(apple)\(path)",
        "https://apple%2Dpay-gateway.apple.com\(path)", "https://%61pple-pay-gateway.apple.com\(path)",
        // Addresses, and a local name.
        "https://17.171.78.7\(path)", "https://0x7f000001\(path)", "https://2130706433\(path)",
        "https://017700000001\(path)",
        "https://127.1\(path)", "https://[::1]\(path)", "https://[::ffff:127.0.0.1]:8443\(path)",
        "https://169.254.169.254/latest/meta-data", "https://localhost\(path)",
        // Schemes.
        "http://\(apple)\(path)", "//\(apple)\(path)", "\(apple)\(path)", "file:///etc/passwd",
        "gopher://\(apple)\(path)",
        "https:/\(apple)\(path)", "https:\\\\\(apple)\(path)", "https:\(apple)\(path)", "https:///\(apple)\(path)", "",
        // White space and control characters.
        " https://\(apple)\(path)", "https://\(apple)\(path) ", "https://\(apple)\t\(path)",
        "https://\(apple)\n\(path)",
        "https://apple-pay-gateway\u{9}.apple.com\(path)", "https://\(apple)\(path)\r\nHost: attacker.example",
        "https://\(apple)\u{0}.attacker.example\(path)", "https:\t//\(apple)\(path)",
        // Paths, queries and fragments.
        "https://\(apple)", "https://\(apple)/", "https://\(apple)\(path)/", "https://\(apple)/\(path)",
        "https://\(apple)/paymentservices/../paymentservices/paymentSession",
        "https://\(apple)/paymentservices/./paymentSession", "https://\(apple)/paymentServices/paymentSession",
        "https://\(apple)/paymentservices/registerMerchant", "https://\(apple)/paymentservices%2FpaymentSession",
        "https://\(apple)\(path)?redirect=https://attacker.example", "https://\(apple)\(path)#fragment",
        "https://\(apple)\\paymentservices\\paymentSession", "https://\(apple)\\.attacker.example\(path)",
        "https://\(apple)\(path);a=b",
        // Lengths.
        "https://\(apple)\(path)" + String(repeating: "/", count: 100_000),
        "https://" + String(repeating: "a.", count: 50_000) + "\(apple)\(path)",
        "https://\(apple)/" + String(repeating: "e\u{301}", count: 5_000),
    ]

    @Test func `there are at least 40 hostile URLs, all different`() {
        #expect(Set(Self.hostile).count == Self.hostile.count && Self.hostile.count >= 40)
    }

    @Test("no hostile validationURL is called", arguments: hostile)
    func refused(url: String) async throws {
        let bench = SessionBench()
        try bench.addRegistration(desired: ["shop.example.com"])
        let error = await bench.requestSession(bench.order(validationURL: url))
        #expect(error?.code == .validationURLRefused)
        #expect(bench.gateway.calls.isEmpty)
        #expect(bench.count(.registered, .validationURLRefused) == 1)
        let audit = bench.repository.audit
        #expect(audit.map(\.action) == [.validationURLRefused])
        #expect(audit.first?.caller == bench.context.caller)
        #expect(audit.first?.requestId == bench.context.requestId)
        #expect((audit.first?.reason?.utf8.count ?? 0) < 800)
        #expect(audit.first?.reason?.contains("password") == false)
        #expect(audit.first?.reason.map { DisplayText.firstRefused(in: $0) == nil } == true)
    }

    @Test(
        "each of Apple's hosts can be selected, with both paths, and only the host reaches the gateway",
        arguments: SessionHost.appleHosts(.production))
    func selected(host: SessionHost) async throws {
        let bench = SessionBench()
        try bench.addRegistration(desired: ["shop.example.com"])
        for path in [Self.path, "/paymentservices/startSession"] {
            let order = bench.order(validationURL: "https://\(host.name)\(path)")
            #expect(await bench.requestSession(order) == nil)
        }
        #expect(bench.gateway.calls.map(\.host) == [host, host])
        #expect(bench.repository.audit.isEmpty)
    }

    @Test func `a host with a port needs exactly this port, and without a URL no host is selected`() async throws {
        let bench = SessionBench()
        try bench.addRegistration(desired: ["shop.example.com"])
        #expect(await bench.requestSession(bench.order(validationURL: "https://127.0.0.1:8443\(Self.path)")) == nil)
        #expect(await bench.requestSession(bench.order()) == nil)
        #expect(bench.gateway.calls.map(\.host) == [SessionBench.sandboxHost, nil])
    }

    @Test func `Apple's hosts are those that Apple publishes for the environment`() {
        let production = SessionHost.appleHosts(.production)
        #expect(production.count == 18 && Set(production).count == 18)
        #expect(production.allSatisfy { $0.port == 443 && $0.name.hasSuffix(".apple.com") })
        for name in [
            "apple-pay-gateway", "apple-pay-gateway-nc-pod5", "apple-pay-gateway-pr-pod1", "cn-apple-pay-gateway",
            "cn-apple-pay-gateway-sh-pod3", "cn-apple-pay-gateway-tj-pod1",
        ] {
            #expect(production.contains(SessionHost(name: "\(name).apple.com")), "\(name)")
        }
        #expect(
            SessionHost.appleHosts(.sandbox).map(\.authority) == [
                "apple-pay-gateway-cert.apple.com", "cn-apple-pay-gateway-cert.apple.com",
            ])
    }

    @Test(
        "a host in the settings is a name, in the sandbox also an address or a name with a port",
        arguments: [
            ("apple-pay-gateway.apple.com", "apple-pay-gateway.apple.com", "apple-pay-gateway.apple.com"),
            ("Apple-Pay-Gateway.Apple.com", "apple-pay-gateway.apple.com", "apple-pay-gateway.apple.com"),
            ("gateway.example:443", "gateway.example", "gateway.example"),
            ("gateway.example:8443", nil, "gateway.example:8443"), ("127.0.0.1:8443", nil, "127.0.0.1:8443"),
            ("localhost:1", nil, "localhost:1"), ("gateway.example:0", nil, nil), ("gateway.example:65536", nil, nil),
            ("gateway.example:+1", nil, nil), ("gateway.example:", nil, nil), ("https://gateway.example", nil, nil),
            ("gateway.example/path", nil, nil), ("user@gateway.example", nil, nil), ("[::1]:8443", nil, nil),
            ("", nil, nil),
            ("g\u{e4}teway.example", nil, nil),
        ] as [(String, String?, String?)])
    func settings(text: String, production: String?, sandbox: String?) {
        #expect(SessionHost(text, in: .production)?.authority == production)
        #expect(SessionHost(text, in: .sandbox)?.authority == sandbox)
    }
}
