import MerchantCore
import MerchantOperations
import MerchantTestSupport
import MetricsKit
import Testing
import Vocabulary

@Suite("Notifications of merchant tokens") struct TokenNotificationIntakeTests {
    @Test(
        "a notification without a secret is stored for the only platform integrator",
        arguments: TokenBench.Store.allCases)
    func stored(_ store: TokenBench.Store) async throws {
        let bench = try await TokenBench(store)
        #expect(try await bench.notify("e-1") == .stored)
        let notification = try #require(try await bench.notification("e-1"))
        #expect(notification.state == .waiting && notification.source == TokenBench.apple)
        #expect(notification.receivedAt == bench.clock.now)
        #expect(try await bench.operations.merchantTokens.queue().waiting == 1)
    }

    @Test("a repeat is recognized, also after the event was fetched", arguments: TokenBench.Store.allCases)
    func repeated(_ store: TokenBench.Store) async throws {
        let bench = try await TokenBench(store)
        bench.gateway.add(eventName("e-1"), "UNLINK", of: tokenName("t-1"))
        #expect(try await bench.notify("e-1") == .stored)
        #expect(try await bench.notify("e-1", from: "17.58.0.2") == .repeated)
        #expect(try await bench.fetchDue() == [.stored])
        #expect(try await bench.notify("e-1") == .repeated)
        #expect(try await bench.fetchDue() == [])
        #expect(try await bench.events().count == 1)
    }

    @Test("a secret names the merchant, and former secrets stay valid", arguments: TokenBench.Store.allCases)
    func secret(_ store: TokenBench.Store) async throws {
        let bench = try await TokenBench(store)
        let tokens = bench.operations.merchantTokens
        let first = try await tokens.createNotificationPath(for: Bench.shop, for: bench.request)
        bench.clock.advance(by: .seconds(1))
        let second = try await tokens.createNotificationPath(for: Bench.shop, for: bench.request)
        #expect(first.secret.utf8.count == 32 && first.secret != second.secret)
        #expect(try await tokens.notificationPaths(of: Bench.shop) == [second, first])
        #expect(try await bench.notify("e-1", secret: first.secret) == .stored)
        #expect(try await bench.notify("e-2", secret: second.secret) == .stored)
        #expect(try await bench.notification("e-1", of: Bench.shop) != nil)
        #expect(try await bench.actions().suffix(2) == [.tokenNotificationPathCreated, .tokenNotificationPathCreated])
    }

    @Test("a notification with an invalid event identifier or secret is ignored and not stored")
    func junk() async throws {
        let bench = try await TokenBench()
        let long = String(repeating: "a", count: 129)
        for event in ["", long, "a/b", "a b", "a%2Fb", "é", "a\0"] {
            #expect(try await bench.notify(event) == .ignored, "\(event)")
        }
        for secret in ["", "x", String(repeating: "x", count: 32), String(repeating: "'", count: 32)] {
            #expect(try await bench.notify("e-1", secret: secret) == .ignored, "\(secret)")
        }
        #expect(try await bench.operations.merchantTokens.queue().waiting == 0)
    }

    @Test(
        "with two platform integrators, a notification without a secret is ignored and reported, unless the setting names one"
    )
    func twoIntegrators() async throws {
        let other = try #require(MerchantIdentifier("platformintegrator.com.example.other"))
        let bench = try await TokenBench()
        _ = try await bench.operations.merchants.addMerchant(
            other, name: nil, targetActiveKeyPairs: nil, for: bench.request)
        #expect(try await bench.notify("e-1") == .ignored)
        #expect(try await Self.findings(bench) == [.tokenNotificationsIgnored])

        var policy = MerchantTokenPolicy()
        policy.merchantIdentifier = other
        let configured = TokenBench(bench.repository, gateway: bench.gateway, policy: policy, clock: bench.clock)
        #expect(try await configured.notify("e-1") == .stored)
        #expect(try await configured.notification("e-1", of: other) != nil)
        #expect(try await Self.findings(configured) == [])
    }

    @Test("if the setting names an unknown merchant, notifications without a secret are ignored, and this is a finding")
    func unknownMerchant() async throws {
        var policy = MerchantTokenPolicy()
        policy.merchantIdentifier = MerchantIdentifier("merchant.com.example.unknown")
        let bench = try await TokenBench(policy: policy)
        #expect(try await bench.notify("e-1") == .ignored)
        #expect(try await Self.findings(bench) == [.tokenNotificationsIgnored])
    }

    @Test(
        "one address can fill a tenth of the queue, and others are still accepted", arguments: TokenBench.Store.allCases
    )
    func flood(_ store: TokenBench.Store) async throws {
        var policy = MerchantTokenPolicy()
        policy.waiting = 100
        let bench = try await TokenBench(store, policy: policy)
        for number in 1...10 {
            #expect(try await bench.notify("junk-\(number)", from: "192.0.2.1") == .stored)
        }
        let error = await refusal { try await bench.notify("junk-11", from: "192.0.2.1") }
        #expect(error?.code == .overloaded && error?.retryAfter != nil)
        #expect(try await bench.notify("junk-1", from: "192.0.2.1") == .repeated)
        #expect(try await bench.notify("real-1") == .stored)
        #expect(try await Self.findings(bench) == [.tokenNotificationsRefused])
    }

    @Test("many addresses together leave places for a further address")
    func manyAddresses() async throws {
        var policy = MerchantTokenPolicy()
        policy.waiting = 100
        let bench = try await TokenBench(policy: policy)
        for round in 1...20 {
            for address in 1...20 {
                _ = try? await bench.notify("junk-\(address)-\(round)", from: "192.0.2.\(address)")
            }
        }
        #expect(try await bench.operations.merchantTokens.queue().waiting < 100)
        #expect(try await bench.notify("real-1") == .stored)
    }

    @Test("the counters of the metrics say what happened to each notification")
    func metrics() async throws {
        let bench = try await TokenBench()
        try await bench.notify("e-1")
        try await bench.notify("e-1")
        try await bench.notify("a/b")
        bench.operations.tokenNotifications.countRefusal(.source)
        var text = MetricsText()
        bench.operations.merchantTokenMetrics.append(to: &text)
        let page = try PrometheusPage(text.text)
        for outcome in ["stored", "repeated", "malformedEvent", "sourceRefused"] {
            #expect(
                page["merchantkeyd_merchant_token_notifications_total", ["outcome": outcome]] == 1, "\(outcome)")
        }
    }

    private static func findings(_ bench: TokenBench) async throws -> [StatusFinding.Code] {
        let codes: Set<StatusFinding.Code> = [
            .tokenNotificationsIgnored, .tokenNotificationsRefused, .tokenNotificationsWaiting, .tokenEventsUnknown,
        ]
        return try await bench.operations.monitoring.status().findings.map(\.code).filter(codes.contains)
    }
}
