import MerchantCore
import MerchantOperations
import MerchantTestSupport
import Synchronization
import Testing
import Vocabulary

/// Results and records when Apple or the connection to Apple fails.
@Suite("When Apple fails") struct UncertaintyTests {
    /// A fault for the next change only.
    final class Once: Sendable {
        private let next: Mutex<ScriptedGateway.Fault?>
        init(_ fault: ScriptedGateway.Fault?) { next = Mutex(fault) }
        func set(_ fault: ScriptedGateway.Fault) { next.withLock { $0 = fault } }
        func take(_ call: ScriptedGateway.Call) -> ScriptedGateway.Fault? {
            if case .details = call { return nil }
            return next.withLock { fault in
                defer { fault = nil }
                return fault
            }
        }
    }

    private func bench(_ once: Once) async throws -> Bench {
        try await Bench(gateway: ScriptedGateway(fault: { once.take($0) }))
    }

    @Test(
        "a call that certainly failed is refused with its cause, and the next call is allowed",
        arguments: [
            (ScriptedGateway.Fault.refused, MerchantError.Code.gatewayRefused), (.unauthorized, .gatewayUnauthorized),
            (.platformNotRegistered, .gatewayUnauthorized), (.rateLimited, .gatewayRateLimited),
            (.unreachable, .gatewayUnavailable), (.circuitOpen, .gatewayUnavailable),
            (.serverUntrusted, .gatewayUntrusted), (.identityUnusable, .gatewayNotConfigured),
        ])
    func certain(_ fault: ScriptedGateway.Fault, _ code: MerchantError.Code) async throws {
        let bench = try await bench(Once(fault))
        let found = await refusal { try await bench.register("shop-1", ["a.example"]) }
        #expect(found?.code == code)
        if fault == .refused { #expect(found?.detail.contains("c-1") == true) }
        if fault == .rateLimited { #expect(found?.retryAfter == 7) }
        #expect(try await bench.wanted("shop-1").isEmpty && bench.atApple("shop-1") == nil)
        #expect(await refusal { try await bench.register("shop-1", ["b.example"]) } == nil)
        #expect(bench.atApple("shop-1") == ["b.example"])
        let failed = try await bench.audited().filter { $0.action == .registrationCallFailed }
        #expect(failed.count == 1)
    }

    @Test(
        "a call with an uncertain outcome succeeds if Apple's record shows its effect",
        arguments: [
            ScriptedGateway.Fault.failedAfterActing, .malformedAfterActing, .resetAfterActing, .unauthorizedAfterActing,
        ])
    func acted(_ fault: ScriptedGateway.Fault) async throws {
        let once = Once(fault)
        let bench = try await bench(once)
        try await bench.register("shop-1", ["a.example", "b.example"])
        #expect(try await bench.wanted("shop-1") == ["a.example", "b.example"])
        once.set(fault)
        try await bench.unregister("shop-1", ["a.example"])
        #expect(try await bench.wanted("shop-1") == ["b.example"])
        once.set(fault)
        try await bench.unregister("shop-1")
        #expect(try await bench.sync().findings.isEmpty)
    }

    @Test(
        "a call that may still reach Apple stays open: a repeat is allowed, another request for the merchant is not",
        arguments: [ScriptedGateway.Fault.failedBeforeActing, .resetBeforeActing])
    func open(_ fault: ScriptedGateway.Fault) async throws {
        let once = Once(fault)
        let bench = try await bench(once)
        let lost = await refusal { try await bench.register("shop-1", ["a.example"]) }
        #expect(lost?.code == .gatewayResponseNotReceived && lost?.retryAfter == 120)
        let view = try await bench.operations.registrations.registration(
            partnerName("shop-1"), refresh: false, for: bench.request)
        #expect(view.openCall != nil)
        let other = await refusal { try await bench.register("shop-1", ["b.example"]) }
        #expect(other?.code == .registrationConflict)
        #expect(try await bench.sync().findings.map(\.failure?.code) == [.registrationConflict])
        try await bench.register("shop-1", ["a.example"])
        #expect(bench.atApple("shop-1") == ["a.example"])
        #expect(try await bench.sync().findings.isEmpty)
    }

    @Test("a call that Apple's record does not show after the longest arrival delay is stored as not done")
    func settled() async throws {
        let bench = try await bench(Once(.resetBeforeActing))
        _ = await refusal { try await bench.register("shop-1", ["a.example"]) }
        var round = try await bench.operations.openCalls.resolveOpenCalls(as: Bench.caller)
        #expect(round.resolved == 0 && round.open == 1)
        bench.clock.advance(by: RegistrationCalls.latestArrivalDelay)
        round = try await bench.operations.openCalls.resolveOpenCalls(as: Bench.caller)
        #expect(round.resolved == 1 && round.open == 0)
        #expect(try await bench.wanted("shop-1").isEmpty)
        #expect(await refusal { try await bench.register("shop-1", ["b.example"]) } == nil)
    }

    @Test("sync finds a call that reached Apple after it was stored as not done")
    func late() async throws {
        let bench = try await bench(Once(.actsLate))
        _ = await refusal { try await bench.register("shop-1", ["a.example"]) }
        bench.clock.advance(by: .seconds(3600))
        _ = try await bench.operations.openCalls.resolveOpenCalls(as: Bench.caller)
        bench.gateway.deliverLateCalls()
        let finding = try #require(try await bench.sync().findings.first)
        #expect(finding.drift == [.extraDomain("a.example")])
        #expect(bench.atApple("shop-1") == ["a.example"], "sync without repair removes nothing")
        #expect(try await bench.sync(repair: true).findings.map(\.repaired) == [true])
        #expect(bench.atApple("shop-1") == nil)
    }

    @Test("while an earlier attempt of a call may still reach Apple, requests that this attempt would undo are refused")
    func lateRepeat() async throws {
        let bench = try await bench(Once(.actsLate))
        _ = await refusal { try await bench.register("shop-1", ["a.example"]) }
        try await bench.register("shop-1", ["a.example"])
        let early = await refusal { try await bench.unregister("shop-1", ["a.example"]) }
        #expect(early?.code == .registrationConflict)
        #expect(bench.atApple("shop-1") == ["a.example"])
        bench.gateway.deliverLateCalls()
        bench.clock.advance(by: RegistrationCalls.latestArrivalDelay)
        try await bench.unregister("shop-1", ["a.example"])
        #expect(bench.atApple("shop-1") == nil)
    }

    @Test("an attempt without a response blocks only requests that it would undo, even if a later attempt succeeded")
    func lateTry() async throws {
        let bench = try await bench(Once(.answeredAgain))
        try await bench.register("shop-1", ["a.example"])
        try await bench.register("shop-1", ["b.example"])
        let early = await refusal { try await bench.unregister("shop-1", ["a.example"]) }
        #expect(early?.code == .registrationConflict && early?.retryAfter == 120)
        try await bench.unregister("shop-1", ["b.example"])
        #expect(bench.atApple("shop-1") == ["a.example"])
        bench.gateway.deliverLateCalls()
        bench.clock.advance(by: RegistrationCalls.latestArrivalDelay)
        try await bench.unregister("shop-1", ["a.example"])
        #expect(bench.atApple("shop-1") == nil)
        #expect(try await bench.sync().findings.isEmpty)
    }

    @Test("a registration that a killed daemon left open may reach Apple again, so its removal is refused for a time")
    func settledYoung() async throws {
        let bench = try await Bench()
        let content = RegistrationCall.Content.register(
            DesiredRegistration(
                partnerMerchantName: "Shop", domainNames: Set(domainNames(["a.example"])), encryptTo: Bench.integrator,
                merchantUrl: nil), merchant: nil)
        try await bench.register("shop-1", ["b.example"])
        let now = bench.clock.now
        _ = try await bench.repository.write {
            try $0.open(content, of: partnerName("shop-1"), requestId: "dead", at: now)
        }
        bench.gateway.records[partnerName("shop-1")]?.domains.formUnion(domainNames(["a.example"]))
        #expect(try await bench.operations.openCalls.resolveOpenCalls(as: Bench.caller).resolved == 1)
        #expect(try await bench.wanted("shop-1") == ["a.example", "b.example"])
        let early = await refusal { try await bench.unregister("shop-1", ["a.example"]) }
        #expect(early?.code == .registrationConflict)
        bench.clock.advance(by: RegistrationCalls.latestArrivalDelay)
        try await bench.unregister("shop-1", ["a.example"])
    }

    @Test("while Apple cannot be reached, open calls stay open")
    func askingFails() async throws {
        let isDown = Mutex(false)
        let once = Once(.resetAfterActing)
        let bench = try await Bench(
            gateway: ScriptedGateway(fault: { call in
                if case .details = call { return isDown.withLock { $0 } ? .unreachable : nil }
                return once.take(call)
            }))
        isDown.withLock { $0 = true }
        let lost = await refusal { try await bench.register("shop-1", ["a.example"]) }
        #expect(lost?.code == .gatewayResponseNotReceived)
        bench.clock.advance(by: .seconds(3600))
        let round = try await bench.operations.openCalls.resolveOpenCalls(as: Bench.caller)
        #expect(round.open == 1 && round.failure?.code == .gatewayUnavailable)
        isDown.withLock { $0 = false }
        #expect(try await bench.operations.openCalls.resolveOpenCalls(as: Bench.caller).resolved == 1)
        #expect(try await bench.wanted("shop-1") == ["a.example"])
    }

    @Test("a daemon without an identity names the missing settings")
    func notConfigured() async throws {
        let bench = try await Bench()
        let operations = Operations(
            repository: bench.repository, custodian: FakeCustodian(clock: bench.clock), claims: MemoryClaimLedger(),
            clock: bench.clock,
            environment: .sandbox)
        let found = await refusal {
            _ = try await operations.registrations.registration(
                partnerName("shop-1"), refresh: true, for: bench.request)
        }
        #expect(found?.code == .gatewayNotConfigured)
        #expect(found?.detail.contains("apple.gateway.identity.certificate") == true)
    }

    @Test("status reports drift, unresolved calls and paused calls to Apple")
    func status() async throws {
        let bench = try await bench(Once(.resetBeforeActing))
        _ = await refusal { try await bench.register("shop-1", ["a.example"]) }
        try await bench.register("shop-2", ["a.example"])
        bench.gateway.records[partnerName("shop-2")] = nil
        _ = try await bench.sync()
        bench.gateway.health = .circuitOpen(until: bench.clock.now, lastError: "500")
        bench.clock.advance(by: .seconds(600))
        let status = try await bench.operations.monitoring.status()
        #expect(
            Set(status.findings.map(\.code)).isSuperset(of: [
                .registrationDrift, .registrationUnresolved, .gatewayUnavailable,
            ]))
        #expect(status.counts.registrations == 1 && status.counts.registrationsDrifting == 1)
    }
}
