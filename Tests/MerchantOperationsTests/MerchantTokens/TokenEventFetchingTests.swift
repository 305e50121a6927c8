import MerchantCore
import MerchantOperations
import MerchantTestSupport
import Synchronization
import Testing
import Vocabulary

@Suite("Fetching events of merchant tokens") struct TokenEventFetchingTests {
    @Test(
        "each type of event becomes one event for webhooks, one audit record and a change of the token",
        arguments: [
            ("UNLINK", Event.Kind.merchantTokenUnlinked), ("UPDATED_METADATA", .merchantTokenMetadataUpdated),
            ("UPDATED_CARD_ART", .merchantTokenCardArtUpdated),
            ("UPDATED_MERCHANT_TOKEN_PUBLIC_KEY", .merchantTokenPublicKeyUpdated), ("RENAMED", .merchantTokenEvent),
            ("unlink", .merchantTokenEvent),
        ], TokenBench.Store.allCases)
    func types(_ type: (name: String, kind: Event.Kind), _ store: TokenBench.Store) async throws {
        let bench = try await TokenBench(store)
        let card = MerchantTokenCard(
            cardCountry: "DE", expirationDate: "270531", fpanSuffix: "1234",
            cardArt: [.init(name: "front", type: "image/png", url: "https://card.example/1.png")])
        bench.gateway.add(eventName("e-1"), type.name, of: tokenName("t-1"), reason: "ISSUER", card: card)
        try await bench.notify("e-1")
        let receivedAt = bench.clock.now
        bench.clock.advance(by: .seconds(2))
        #expect(try await bench.fetchDue() == [.stored])

        let event = try #require(try await bench.events().first)
        #expect(event.kind == type.kind && event.severity == .notice && event.merchantIdentifier == Bench.integrator)
        #expect(
            event.merchantToken
                == MerchantTokenReport(
                    merchantTokenIdentifier: tokenName("t-1"), eventIdentifier: eventName("e-1"), eventType: type.name,
                    reason: "ISSUER", receivedAt: receivedAt, card: card, mpanIdentifier: nil))
        let token = try #require(try await bench.token("t-1"))
        #expect(token.state == (type.kind == .merchantTokenUnlinked ? .unlinked : .linked))
        #expect(token.merchantIdentifier == Bench.integrator && token.card == card)
        #expect(token.lastEvent?.type == type.name && token.lastEvent?.receivedAt == receivedAt)
        #expect(try await bench.actions().filter { $0 == .merchantTokenEventReceived }.count == 1)
        #expect(try await bench.notification("e-1")?.state == .done)
    }

    @Test("an unlinked token stays unlinked, and a later event changes only the fields that it has")
    func later() async throws {
        let bench = try await TokenBench()
        bench.gateway.add(
            eventName("e-1"), "UPDATED_METADATA", of: tokenName("t-1"),
            card: MerchantTokenCard(cardCountry: "DE", fpanSuffix: "1234"))
        bench.gateway.add(eventName("e-2"), "UNLINK", of: tokenName("t-1"))
        bench.gateway.add(
            eventName("e-3"), "UPDATED_METADATA", of: tokenName("t-1"), card: MerchantTokenCard(fpanSuffix: "9876"))
        for event in ["e-1", "e-2", "e-3"] {
            try await bench.notify(event)
            try await bench.fetchDue()
        }
        let token = try #require(try await bench.token("t-1"))
        #expect(token.state == .unlinked)
        #expect(token.card == MerchantTokenCard(cardCountry: "DE", fpanSuffix: "9876"))
    }

    @Test(
        "an event that Apple does not know is closed as unknown in its first 7 days, without an event for webhooks",
        arguments: [GatewayError.Kind.refused, .notFound], TokenBench.Store.allCases)
    func unknown(_ kind: GatewayError.Kind, _ store: TokenBench.Store) async throws {
        let bench = try await TokenBench(store, gateway: ScriptedMerchantTokenGateway { _ in kind })
        try await bench.notify("e-1")
        #expect(try await bench.fetchDue() == [.unknown])
        #expect(try await bench.notification("e-1")?.state == .unknown)
        #expect(try await bench.events() == [])
        #expect(try await bench.fetchDue() == [])
    }

    @Test(
        "an event that Apple answers with 403 is fetched again, because a 403 may be temporary",
        arguments: TokenBench.Store.allCases)
    func forbidden(_ store: TokenBench.Store) async throws {
        let isForbidden = Atomic(true)
        let bench = try await TokenBench(
            store,
            gateway: ScriptedMerchantTokenGateway { _ in isForbidden.load(ordering: .relaxed) ? .forbidden : nil })
        bench.gateway.add(eventName("e-1"), "UNLINK", of: tokenName("t-1"))
        try await bench.notify("e-1")
        for _ in 0..<3 {
            guard case .failed(let next, _)? = try await bench.fetchDue().first else {
                Issue.record("the attempt did not fail")
                return
            }
            bench.clock.advance(by: .milliseconds(next.millisecondsSince1970 - bench.clock.now.millisecondsSince1970))
        }
        #expect(try await bench.notification("e-1")?.failures == 3)
        isForbidden.store(false, ordering: .relaxed)
        #expect(try await bench.fetchDue() == [.stored])
    }

    @Test("an event that Apple answers with 403 for 7 days is reported as lost")
    func forbiddenTooLong() async throws {
        let bench = try await TokenBench(gateway: ScriptedMerchantTokenGateway { _ in .forbidden })
        try await bench.notify("e-1")
        try await bench.fetchDue()
        bench.clock.advance(by: .seconds(7 * 86_400))
        try await bench.fetchDue()
        #expect(try await bench.notification("e-1")?.state == .failed)
        #expect(try await bench.events().map(\.kind) == [.merchantTokenEventLost])
    }

    @Test(
        "events that Apple answers with 403 use at most half of the places of their address in the queue",
        arguments: TokenBench.Store.allCases)
    func forbiddenLimit(_ store: TokenBench.Store) async throws {
        var policy = MerchantTokenPolicy()
        policy.waitingPerAddress = 6
        let bench = try await TokenBench(
            store, gateway: ScriptedMerchantTokenGateway { _ in .forbidden }, policy: policy)
        for number in 1...6 { try await bench.notify("junk-\(number)", from: "192.0.2.1") }
        try await bench.notify("other", from: "192.0.2.2")
        var closed = 0
        while true {
            let outcomes = try await bench.fetchDue()
            let forbidden = outcomes.filter { if case .forbidden = $0 { true } else { false } }.count
            closed += forbidden
            guard forbidden > 0 else { break }
        }
        #expect(closed == 3)
        #expect(try await bench.operations.merchantTokens.queue().waiting == 4)
        #expect(try await bench.notification("junk-1")?.state == .unknown)
        #expect(try await bench.notification("other")?.state == .waiting)
        #expect(try await bench.events() == [])
    }

    @Test("more than 1,000 events in two hours that are closed because Apple answers with 403 are a finding")
    func forbiddenFinding() async throws {
        var policy = MerchantTokenPolicy()
        policy.waitingPerAddress = 6
        let bench = try await TokenBench(gateway: ScriptedMerchantTokenGateway { _ in .forbidden }, policy: policy)
        let now = bench.clock.now
        func hasFinding() async throws -> Bool {
            try await bench.operations.monitoring.status().findings.contains { $0.code == .tokenEventsUnknown }
        }
        // Three of the events stay in the queue: half of the 6 places of the address.
        for (first, last, isFinding) in [(1, 1_003, false), (1_004, 1_004, true)] {
            try await bench.repository.write { transaction in
                for number in first...last {
                    try transaction.insertTokenNotification(
                        eventName("junk-\(number)"), of: Bench.integrator, from: "192.0.2.1", at: now)
                }
            }
            while try await bench.fetchDue().contains(where: { if case .forbidden = $0 { true } else { false } }) {}
            #expect(try await hasFinding() == isFinding)
        }
    }

    @Test(
        "an event that Apple refuses after 7 days is reported as lost, because Apple then refuses genuine events, too")
    func refusedLate() async throws {
        let bench = try await TokenBench(gateway: ScriptedMerchantTokenGateway { _ in .refused })
        try await bench.notify("e-1")
        bench.clock.advance(by: .seconds(7 * 86_400))
        let outcomes = try await bench.fetchDue()
        #expect(outcomes.count == 1)
        #expect(try await bench.notification("e-1")?.state == .failed)
        #expect(try await bench.events().map(\.kind) == [.merchantTokenEventLost])
    }

    @Test(
        "an event for a token of another merchant does not change the token, and is not reported",
        arguments: TokenBench.Store.allCases)
    func otherMerchant(_ store: TokenBench.Store) async throws {
        let bench = try await TokenBench(store)
        bench.gateway.add(eventName("e-1"), "UPDATED_METADATA", of: tokenName("t-1"))
        bench.gateway.add(eventName("e-2"), "UNLINK", of: tokenName("t-1"))
        try await bench.notify("e-1")
        try await bench.fetchDue()
        let path = try await bench.operations.merchantTokens.createNotificationPath(
            for: Bench.shop, for: bench.request)
        let before = try await bench.token("t-1")
        try await bench.notify("e-2", secret: path.secret)
        #expect(try await bench.fetchDue() == [.otherMerchant(tokenName("t-1"))])
        #expect(try await bench.token("t-1") == before)
        #expect(try await bench.notification("e-2", of: Bench.shop)?.state == .unknown)
        #expect(try await bench.events().count == 1)
    }

    @Test(
        "a failed fetch is repeated after growing pauses for 7 days, then the loss is reported",
        arguments: TokenBench.Store.allCases)
    func lost(_ store: TokenBench.Store) async throws {
        let bench = try await TokenBench(store, gateway: ScriptedMerchantTokenGateway { _ in .failedAtApple })
        try await bench.notify("e-1")
        let start = bench.clock.now
        var pauses: [Duration] = []
        while pauses.count < 15 {
            guard case .failed(let next, _)? = try await bench.fetchDue().first else {
                Issue.record("no attempt failed")
                return
            }
            #expect(try await bench.fetchDue() == [], "an attempt before its time")
            let pause = Duration.milliseconds(next.millisecondsSince1970 - bench.clock.now.millisecondsSince1970)
            pauses.append(pause)
            bench.clock.advance(by: pause)
        }
        for (index, pause) in pauses.enumerated() {
            let full = min(300, 1 << index)
            #expect(pause >= .milliseconds(full * 500) && pause <= .seconds(full), "\(index): \(pause)")
        }
        bench.clock.advance(by: .seconds(7 * 86_400 - 3_600))
        #expect(try await bench.notification("e-1")?.state == .waiting)
        while try await bench.notification("e-1")?.state == .waiting {
            try await bench.fetchDue()
            bench.clock.advance(by: .seconds(300))
        }
        #expect(bench.clock.now >= start.adding(.seconds(7 * 86_400)))
        #expect(bench.clock.now <= start.adding(.seconds(7 * 86_400 + 3_600)))
        let events = try await bench.events()
        #expect(events.map(\.kind) == [.merchantTokenEventLost] && events.first?.severity == .warning)
        #expect(events.first?.merchantToken?.eventIdentifier == eventName("e-1"))
    }

    @Test(
        "while calls are paused or there is no identity, nothing counts as a failure",
        arguments: [GatewayError.Kind.circuitOpen, .identityUnusable])
    func paused(_ kind: GatewayError.Kind) async throws {
        let bench = try await TokenBench(gateway: ScriptedMerchantTokenGateway { _ in kind })
        try await bench.notify("e-1")
        let before = try await bench.notification("e-1")
        for _ in 0..<3 {
            let outcomes = try await bench.fetchDue()
            #expect(outcomes.count == 1)
            bench.clock.advance(by: .seconds(86_400))
        }
        #expect(try await bench.notification("e-1") == before)
        #expect(
            try await bench.operations.monitoring.status().findings.map(\.code).contains(.tokenNotificationsWaiting))
    }

    @Test("calls for a merchant use its own identity key pair, or the platform's if the merchant has none")
    func identity() async throws {
        let bench = try await TokenBench()
        let path = try await bench.operations.merchantTokens.createNotificationPath(
            for: Bench.shop, for: bench.request)
        try await bench.notify("e-1", secret: path.secret)
        try await bench.notify("e-2")
        try await bench.fetchDue()
        #expect(
            Set(bench.gateway.calls) == [
                .event(eventName("e-1"), Bench.shop, .platform), .event(eventName("e-2"), Bench.integrator, .platform),
            ])
        try await bench.addKeyPair(of: Bench.shop, purpose: .identity)
        try await bench.notify("e-3", secret: path.secret)
        try await bench.fetchDue()
        #expect(bench.gateway.calls.last == .event(eventName("e-3"), Bench.shop, .merchant(Bench.shop)))
    }

    @Test("encrypted metadata that cannot be read is a warning, and the event is still reported")
    func metadata() async throws {
        let bench = try await TokenBench()
        bench.gateway.add(
            eventName("e-1"), "UPDATED_METADATA", of: tokenName("t-1"), encryptedMetadata: Array("{}".utf8))
        try await bench.notify("e-1")
        #expect(try await bench.fetchDue() == [.stored])
        let event = try #require(try await bench.events().first)
        #expect(event.kind == .merchantTokenMetadataUpdated && event.severity == .warning)
        #expect(event.merchantToken?.mpanIdentifier == nil)
    }

    @Test(
        "the notification of a fetched event is kept for 8 days, that of an unknown event for an hour",
        arguments: TokenBench.Store.allCases)
    func retention(_ store: TokenBench.Store) async throws {
        let bench = try await TokenBench(store)
        bench.gateway.add(eventName("e-1"), "UNLINK", of: tokenName("t-1"))
        try await bench.notify("e-1")
        try await bench.notify("junk", from: "192.0.2.1")
        #expect(try await Set(bench.fetchDue()) == [.stored, .unknown])
        bench.clock.advance(by: .seconds(3_599))
        #expect(try await bench.operations.tokenEvents.removeClosedNotifications() == 0)
        bench.clock.advance(by: .seconds(2))
        #expect(try await bench.operations.tokenEvents.removeClosedNotifications() == 1)
        #expect(try await bench.notification("junk") == nil)
        bench.clock.advance(by: .seconds(8 * 86_400 - 3_700))
        #expect(try await bench.notify("e-1") == .repeated)
        #expect(try await bench.operations.tokenEvents.removeClosedNotifications() == 0)
        bench.clock.advance(by: .seconds(3_700))
        #expect(try await bench.operations.tokenEvents.removeClosedNotifications() == 1)
        #expect(try await bench.notification("e-1") == nil)
    }
}
