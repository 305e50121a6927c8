import MerchantCore
import MerchantOperations
import MerchantTestSupport
import Synchronization
import Testing
import Vocabulary

@Suite("The dispatcher of merchant token events") struct TokenEventDispatcherTests {
    /// Runs a dispatcher while `body` runs.
    private static func dispatching(
        _ bench: TokenBench, _ limits: TokenEventDispatcher.Limits = TokenEventDispatcher.Limits(),
        changedKeys: ChangedKeys = ChangedKeys(),
        report: @escaping @Sendable (TokenEventDispatcher.Report) -> Void = { _ in },
        _ body: () async throws -> Void
    ) async throws {
        let dispatcher = TokenEventDispatcher(
            fetching: bench.operations.tokenEvents, arrivals: bench.operations.tokenNotificationArrivals,
            changedKeys: changedKeys, limits: limits, caller: Bench.caller, report: report)
        let running = Task { await dispatcher.run() }
        do { try await body() } catch {
            dispatcher.stop()
            throw error
        }
        dispatcher.stop()
        await running.value
    }

    /// Waits until a condition holds, for at most 30 seconds.
    private static func wait(for condition: () async throws -> Bool) async throws {
        let deadline = ContinuousClock.now + .seconds(30)
        while ContinuousClock.now < deadline {
            if try await condition() { return }
            try await Task.sleep(for: .milliseconds(5))
        }
        Issue.record("the condition did not hold within 30 seconds")
    }

    @Test("an event is fetched as soon as its notification arrives", arguments: TokenBench.Store.allCases)
    func arrival(_ store: TokenBench.Store) async throws {
        let bench = try await TokenBench(store)
        bench.gateway.add(eventName("e-1"), "UNLINK", of: tokenName("t-1"))
        try await Self.dispatching(bench) {
            try await bench.notify("e-1")
            try await Self.wait { try await bench.events().count == 1 }
        }
    }

    @Test("after a restart, the events of stored notifications are fetched")
    func restart() async throws {
        let bench = try await TokenBench()
        bench.gateway.add(eventName("e-1"), "UNLINK", of: tokenName("t-1"))
        try await bench.notify("e-1")
        let restarted = TokenBench(bench.repository, gateway: bench.gateway, clock: bench.clock)
        try await Self.dispatching(restarted) {
            try await Self.wait { try await bench.events().count == 1 }
        }
    }

    @Test("several events are fetched concurrently, but at most 8")
    func concurrency() async throws {
        let gateway = ScriptedMerchantTokenGateway(delay: .milliseconds(5))
        let bench = try await TokenBench(gateway: gateway)
        for number in 0..<60 {
            gateway.add(eventName("e-\(number)"), "UNLINK", of: tokenName("t-\(number)"))
            try await bench.notify("e-\(number)", from: "17.58.0.\(number % 20)")
        }
        try await Self.dispatching(bench) {
            try await Self.wait { try await bench.events().count == 60 }
        }
        #expect(gateway.mostRunning > 1 && gateway.mostRunning <= 8)
    }

    @Test("junk from many addresses does not block the events of another address", arguments: TokenBench.Store.allCases)
    func junk(_ store: TokenBench.Store) async throws {
        let clock = HandMovedClock()
        // A lane is the queue of one merchant's notifications from one address. The lanes take turns by the times of
        // their attempts, so the clock must advance.
        let gateway = ScriptedMerchantTokenGateway { _ in
            clock.advance(by: .milliseconds(1))
            return nil
        }
        let bench = try await TokenBench(store, gateway: gateway, clock: clock)
        for number in 0..<2_000 { try await bench.notify("junk-\(number)", from: "192.0.2.\(number % 20)") }
        for number in 0..<20 {
            gateway.add(eventName("real-\(number)"), "UNLINK", of: tokenName("t-\(number)"))
            try await bench.notify("real-\(number)")
        }
        try await Self.dispatching(bench) {
            try await Self.wait { try await bench.events().count == 20 }
        }
        // Each of the 21 lanes had about 20 turns.
        #expect(gateway.calls.count < 1_000, "\(gateway.calls.count)")
    }

    @Test("while Apple is down, few calls are made; then everything is fetched")
    func outage() async throws {
        let isDown = Atomic(true)
        let gateway = ScriptedMerchantTokenGateway { _ in
            isDown.load(ordering: .relaxed) ? .circuitOpen : nil
        }
        let bench = try await TokenBench(gateway: gateway)
        for number in 0..<20 {
            gateway.add(eventName("e-\(number)"), "UNLINK", of: tokenName("t-\(number)"))
            try await bench.notify("e-\(number)", from: "17.58.0.\(number)")
        }
        let pauses = Atomic(0)
        try await Self.dispatching(
            bench,
            report: { report in
                if case .attempt(_, .paused) = report { pauses.add(1, ordering: .relaxed) }
            }
        ) {
            try await Self.wait { pauses.load(ordering: .relaxed) > 0 }
            isDown.store(false, ordering: .relaxed)
            try await Self.wait { try await bench.events().count == 20 }
        }
        #expect(pauses.load(ordering: .relaxed) <= 16)
    }

    @Test("a merchant without an identity does not stop the events of others")
    func identity() async throws {
        let gateway = ScriptedMerchantTokenGateway { call in
            if case .event(_, Bench.shop, _) = call { .identityUnusable } else { nil }
        }
        let bench = try await TokenBench(gateway: gateway)
        let path = try await bench.operations.merchantTokens.createNotificationPath(
            for: Bench.shop, for: bench.request)
        for number in 0..<40 {
            try await bench.notify("shop-\(number)", secret: path.secret, from: "192.0.2.\(number)")
        }
        gateway.add(eventName("e-1"), "UNLINK", of: tokenName("t-1"))
        try await bench.notify("e-1")
        try await Self.dispatching(bench) {
            try await Self.wait { try await bench.events().count == 1 }
        }
        #expect(try await bench.operations.merchantTokens.queue().waiting == 40)
    }

    @Test("40,000 lanes of a merchant without an identity do not stop the events of others")
    func lanesWithoutIdentity() async throws {
        let gateway = ScriptedMerchantTokenGateway { call in
            if case .event(_, Bench.shop, _) = call { .identityUnusable } else { nil }
        }
        let bench = try await TokenBench(.sqlite, gateway: gateway)
        let now = bench.clock.now
        try await bench.repository.write { transaction in
            for number in 0..<40_000 {
                try transaction.insertTokenNotification(
                    eventName("shop-\(number)"), of: Bench.shop, from: "2001:db8:0:\(number)::/64", at: now)
            }
        }
        gateway.add(eventName("e-1"), "UNLINK", of: tokenName("t-1"))
        try await bench.notify("e-1")
        try await Self.dispatching(bench) {
            try await Self.wait { try await bench.events().count == 1 }
        }
        #expect(try await bench.operations.merchantTokens.queue().waiting == 40_000)
    }

    @Test("300 merchants without an identity do not stop the events of others")
    func merchantsWithoutIdentity() async throws {
        let gateway = ScriptedMerchantTokenGateway { call in
            if case .event(_, Bench.integrator, _) = call { nil } else { .identityUnusable }
        }
        let bench = try await TokenBench(gateway: gateway)
        for number in 0..<300 {
            let merchant = try #require(MerchantIdentifier("merchant.com.example.shop\(number)"))
            _ = try await bench.operations.merchants.addMerchant(
                merchant, name: nil, targetActiveKeyPairs: nil, for: bench.request)
            let path = try await bench.operations.merchantTokens.createNotificationPath(
                for: merchant, for: bench.request)
            try await bench.notify("shop-\(number)", secret: path.secret)
        }
        gateway.add(eventName("e-1"), "UNLINK", of: tokenName("t-1"))
        try await bench.notify("e-1")
        // Without the longer pause for many merchants, the first ones would be attempted again before the last ones.
        var limits = TokenEventDispatcher.Limits()
        limits.pauseWithoutIdentity = .milliseconds(1)
        try await Self.dispatching(bench, limits) {
            try await Self.wait { try await bench.events().count == 1 }
        }
    }

    /// Limits with which a pause of a merchant without an identity does not end by itself during a test.
    private static var longIdentityPause: TokenEventDispatcher.Limits {
        var limits = TokenEventDispatcher.Limits()
        limits.pauseWithoutIdentity = .seconds(3_600)
        limits.longestPauseWithoutIdentity = .seconds(3_600)
        return limits
    }

    @Test(
        "a new identity key of a merchant, or of the platform if the merchant has none, ends the pause at once",
        arguments: [Bench.shop, Bench.integrator])
    func identityKeyEndsPause(of owner: MerchantIdentifier) async throws {
        let hasIdentity = Atomic(false)
        let gateway = ScriptedMerchantTokenGateway { _ in
            hasIdentity.load(ordering: .acquiring) ? nil : .identityUnusable
        }
        let bench = try await TokenBench(gateway: gateway)
        let path = try await bench.operations.merchantTokens.createNotificationPath(
            for: Bench.shop, for: bench.request)
        gateway.add(eventName("e-1"), "UNLINK", of: tokenName("t-1"))
        try await bench.notify("e-1", secret: path.secret)
        let changedKeys = ChangedKeys()
        let reports = Atomic(0)
        try await Self.dispatching(
            bench, Self.longIdentityPause, changedKeys: changedKeys,
            report: { report in
                if case .attempt(_, .withoutIdentity) = report { reports.add(1, ordering: .releasing) }
            }
        ) {
            try await Self.wait { reports.load(ordering: .acquiring) > 0 }
            let hash = try await bench.addKeyPair(of: owner, purpose: .identity)
            hasIdentity.store(true, ordering: .releasing)
            changedKeys.keysChanged([hash])
            try await Self.wait { try await bench.events().count == 1 }
        }
        #expect(gateway.calls.count == 2)
    }

    @Test("an identity that is added during an attempt is used at once")
    func identityDuringAttempt() async throws {
        let changedKeys = ChangedKeys()
        let attempts = Atomic(0)
        let gateway = ScriptedMerchantTokenGateway(delay: .milliseconds(200)) { _ in
            attempts.add(1, ordering: .releasing)
            return attempts.load(ordering: .acquiring) > 1 ? nil : .identityUnusable
        }
        let bench = try await TokenBench(gateway: gateway)
        let added = try await bench.addKeyPair(of: Bench.integrator, purpose: .identity)
        gateway.add(eventName("e-1"), "UNLINK", of: tokenName("t-1"))
        try await bench.notify("e-1")
        try await Self.dispatching(bench, Self.longIdentityPause, changedKeys: changedKeys) {
            // The attempt has read the store, and fails 200 ms later.
            try await Self.wait { !gateway.calls.isEmpty }
            changedKeys.keysChanged([added])
            try await Self.wait { try await bench.events().count == 1 }
        }
    }

    @Test("a payment key or the platform's identity key does not end the pause of a merchant with its own identity key")
    func otherKeysEndNoPause() async throws {
        let gateway = ScriptedMerchantTokenGateway { call in
            if case .event(_, Bench.shop, _) = call { .identityUnusable } else { nil }
        }
        let bench = try await TokenBench(gateway: gateway)
        // The merchant has an identity key of its own, but the gateway cannot use it.
        try await bench.addKeyPair(of: Bench.shop, purpose: .identity)
        let path = try await bench.operations.merchantTokens.createNotificationPath(
            for: Bench.shop, for: bench.request)
        try await bench.notify("shop-1", secret: path.secret)
        let changedKeys = ChangedKeys()
        let reports = Atomic(0)
        try await Self.dispatching(
            bench, Self.longIdentityPause, changedKeys: changedKeys,
            report: { report in
                if case .attempt(_, .withoutIdentity) = report { reports.add(1, ordering: .releasing) }
            }
        ) {
            try await Self.wait { reports.load(ordering: .acquiring) > 0 }
            for (merchant, purpose) in [(Bench.shop, KeyPurpose.paymentProcessing), (Bench.integrator, .identity)] {
                changedKeys.keysChanged([try await bench.addKeyPair(of: merchant, purpose: purpose)])
            }
            // Before all these events are stored, the dispatcher starts all due attempts several times. If the pause
            // had ended, it would also attempt the event of the merchant again.
            for number in 0..<5 {
                gateway.add(eventName("e-\(number)"), "UNLINK", of: tokenName("t-\(number)"))
                try await bench.notify("e-\(number)")
            }
            try await Self.wait { try await bench.events().count == 5 }
        }
        #expect(reports.load(ordering: .acquiring) == 1)
    }

    @Test("events that Apple answers with 403 do not block later events of the same merchant and address")
    func forbiddenDoesNotDelay() async throws {
        let gateway = ScriptedMerchantTokenGateway { call in
            if case .event(let event, _, _) = call, event.rawValue.hasPrefix("junk") { .forbidden } else { nil }
        }
        let bench = try await TokenBench(.sqlite, gateway: gateway)
        let now = bench.clock.now
        gateway.add(eventName("e-1"), "UNLINK", of: tokenName("t-1"))
        try await bench.repository.write { transaction in
            for event in (0..<20).map({ "junk-\($0)" }) + ["e-1"] {
                try transaction.insertTokenNotification(
                    eventName(event), of: Bench.integrator, from: "192.0.2.1", at: now)
            }
        }
        try await Self.dispatching(bench) {
            try await Self.wait { try await bench.events().count == 1 }
        }
        // The clock of the test stands still, so no notification was due a second time.
        #expect(gateway.calls.count == 21)
        #expect(try await bench.operations.merchantTokens.queue().waiting == 20)
    }

    @Test(
        "junk that Apple answers with 403 keeps at most half of its address's queue places and blocks no other address")
    func forbiddenJunk() async throws {
        let gateway = ScriptedMerchantTokenGateway { call in
            if case .event(let event, _, _) = call, event.rawValue.hasPrefix("junk") { .forbidden } else { nil }
        }
        var policy = MerchantTokenPolicy()
        policy.waitingPerAddress = 2_000
        let bench = try await TokenBench(.sqlite, gateway: gateway, policy: policy)
        let now = bench.clock.now
        try await bench.repository.write { transaction in
            for number in 0..<2_000 {
                try transaction.insertTokenNotification(
                    eventName("junk-\(number)"), of: Bench.integrator, from: "192.0.2.1", at: now)
            }
        }
        gateway.add(eventName("e-1"), "UNLINK", of: tokenName("t-1"))
        try await Self.dispatching(bench) {
            try await Self.wait { gateway.calls.count > 10 }
            try await bench.notify("e-1")
            let earlier = gateway.calls.count
            try await Self.wait { try await bench.events().count == 1 }
            let call = ScriptedMerchantTokenGateway.Call.event(eventName("e-1"), Bench.integrator, .platform)
            let position = try #require(gateway.calls.firstIndex(of: call))
            #expect(position - earlier < 50, "the event waited for \(position - earlier) others")
            try await Self.wait { try await bench.operations.merchantTokens.queue().waiting <= 1_000 }
        }
        #expect(try await bench.operations.merchantTokens.queue().waiting == 1_000)
        #expect(try await bench.events().count == 1, "no junk is reported as lost")
    }
}
