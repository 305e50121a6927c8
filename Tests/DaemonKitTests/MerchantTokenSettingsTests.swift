import AppleGateway
import DaemonKit
import MerchantOperations
import MerchantTestSupport
import PortalServer
import Testing
import Vocabulary

/// The settings of merchant tokens.
@Suite struct MerchantTokenSettingsTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func read(_ yaml: String) throws -> MerchantTokenSettings {
        try Settings.read(file: scratch.write(yaml, "c.yaml"), stateDirectory: "/state", environment: [:])
            .merchantTokens
    }

    private func refusal(_ yaml: String) throws -> String {
        try #require(throws: SettingsError.self) { try read(yaml) }.description
    }

    @Test func `by default, notifications come only from Apple's addresses in production, from any in the sandbox`()
        throws
    {
        let apple = ["17.58.0.0/18", "17.58.192.0/18"]
        #expect(try read("log: {level: debug}").notifications.sources?.map(\.text) == apple)
        #expect(try read("environment: sandbox").notifications.sources == nil)
        let set = try read("environment: sandbox\nmerchant-tokens: {sources: [192.0.2.1]}")
        #expect(set.notifications.sources?.map(\.text) == ["192.0.2.1"])
    }

    @Test func `the defaults are those of the use cases`() throws {
        let settings = try read("log: {level: debug}")
        #expect(settings.policy == MerchantTokenPolicy())
        #expect(settings.notifications.prefix.text == "/tokenapi" && settings.notifications.perMinute == 6_000)
        #expect(settings.eventMethod == .get)
    }

    @Test func `each setting reaches its part of the daemon`() throws {
        let settings = try read(
            """
            merchant-tokens:
              path: /apple/tokens
              merchant-identifier: platformintegrator.com.example
              notifications-per-minute: 60
              waiting-per-address: 5
              waiting: 50
              event-method: POST
              record-payments: false
              store-mpan: true
            """)
        var policy = MerchantTokenPolicy()
        policy.merchantIdentifier = .init("platformintegrator.com.example")
        (policy.waitingPerAddress, policy.waiting, policy.recordsPayments) = (5, 50, false)
        policy.storesMPANs = true
        #expect(settings.policy == policy)
        #expect(settings.notifications.prefix.text == "/apple/tokens" && settings.notifications.perMinute == 60)
        #expect(settings.eventMethod == .post)
    }

    @Test(arguments: [
        ("path", "tokenapi"), ("path", "/"), ("path", "/tokenapi/"), ("path", "/v1"), ("path", "/v1/tokens"),
        ("path", "/a/../b"), ("path", "/a b"), ("path", "\"/a?b\""), ("merchant-identifier", "shop"),
        ("sources", "[17.58.0.1/18]"), ("sources", "[apple.com]"), ("notifications-per-minute", "0"),
        ("waiting-per-address", "0"), ("waiting", "9"), ("event-method", "PUT"), ("event-method", "get"),
        ("record-payments", "maybe"), ("store-mpan", "sealed"),
    ])
    func `a value that cannot be used is refused with the name of its setting`(name: String, value: String) throws {
        #expect(try refusal("merchant-tokens: {\(name): \(value)}").contains("merchant-tokens.\(name)"))
    }

    @Test func `a hook for usage information needs a private key, and the key needs the hook`() throws {
        #expect(try read("log: {level: debug}").usageInformation == nil)
        let hook = try read(
            "merchant-tokens: {usage-information: {url: 'http+unix://%2Frun%2Fusage.sock/', private-key: /key.pem}}"
        ).usageInformation
        #expect(hook?.privateKey == "/key.pem" && hook?.timeLimit == .seconds(5))
        for incomplete in ["url: 'http://127.0.0.1:9000/'", "private-key: /key.pem"] {
            #expect(
                try refusal("merchant-tokens: {usage-information: {\(incomplete)}}").contains(
                    "merchant-tokens.usage-information.private-key"))
        }
        let remote = "merchant-tokens: {usage-information: {url: 'http://192.0.2.1/', private-key: /key.pem}}"
        let problem = try refusal(remote)
        #expect(problem.contains("merchant-tokens.usage-information.url") && problem.contains("expected http"))
    }
}
