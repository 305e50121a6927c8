import MerchantCore
import MerchantOperations
import MerchantTestSupport
import Testing
import Vocabulary

@Suite("Registering") struct RegisterTests {
    @Test("a new merchant's encryptTo is the platform's identifier by default, and every step is recorded")
    func new() async throws {
        let bench = try await Bench()
        let view = try await bench.register("shop-1", ["b.example", "a.example"], url: "https://a.example/")
        #expect(view.registration.desired.domainNames == Set(domainNames(["a.example", "b.example"])))
        #expect(view.openCall == nil && view.registration.drift.isEmpty)
        #expect(view.warnings.count == 1 && view.warnings[0].contains("\(Bench.integrator)"))
        #expect(
            bench.gateway.calls == [
                .register(
                    GatewayRegistration(
                        partnerInternalMerchantIdentifier: partnerName("shop-1"), partnerMerchantName: "Shop",
                        domainNames: domainNames(["a.example", "b.example"]), encryptTo: Bench.integrator,
                        merchantUrl: "https://a.example/"))
            ])
        #expect(
            try await bench.audited().suffix(2).map(\.action) == [.registrationCallOpened, .registrationChanged])
        #expect(
            try await bench.audited().last?.after?.contains("domainNames=a.example,b.example") == true)
    }

    @Test("domains are added, and Apple gets only those that it does not have")
    func additive() async throws {
        let bench = try await Bench()
        try await bench.register("shop-1", ["a.example"], url: "https://a.example/")
        try await bench.register("shop-1", ["b.example"], name: nil)
        try await bench.register("shop-1", ["a.example", "c.example"], name: nil)
        #expect(bench.atApple("shop-1") == ["a.example", "b.example", "c.example"])
        guard case .register(let last) = bench.gateway.changes.last else {
            Issue.record("nothing was registered")
            return
        }
        #expect(last.domainNames == domainNames(["c.example"]))
        #expect(last.partnerMerchantName == "Shop" && last.merchantUrl == "https://a.example/")
    }

    @Test("a repeated registration reads Apple's record and changes nothing, unless Apple lost it")
    func again() async throws {
        let bench = try await Bench()
        try await bench.register("shop-1", ["a.example"])
        try await bench.register("shop-1", ["a.example"])
        #expect(bench.gateway.changes.count == 1)
        #expect(bench.gateway.calls.last == .details(partnerName("shop-1")))
        bench.gateway.records = [:]
        try await bench.register("shop-1", ["a.example"])
        #expect(bench.atApple("shop-1") == ["a.example"])
    }

    @Test("a changed name, encryptTo or URL is sent to Apple, even without a new domain")
    func otherName() async throws {
        let bench = try await Bench()
        let other = try #require(MerchantIdentifier("merchant.com.example.other"))
        try await bench.register("shop-1", ["a.example"])
        try await bench.register("shop-1", ["a.example"], name: "Shop & Co")
        try await bench.register("shop-1", ["a.example"], name: nil, encryptTo: other)
        let view = try await bench.register("shop-1", ["a.example"], name: nil)
        #expect(bench.gateway.records[partnerName("shop-1")]?.name == "Shop & Co")
        #expect(bench.gateway.records[partnerName("shop-1")]?.encryptTo == other)
        #expect(view.registration.drift.isEmpty && bench.gateway.changes.count == 3)
        #expect(view.warnings.count == 1 && view.warnings[0].contains("\(other)"))
    }

    @Test("an invalid request, or one that exceeds a limit, is refused without a call to Apple")
    func bounds() async throws {
        let bench = try await Bench()
        let ninetyNine = (0..<99).map { "d\($0).example" }
        try await bench.register("full", ninetyNine)
        bench.gateway.forgetCalls()
        let long = String(repeating: "x", count: 1025)
        let merchant = try #require(MerchantIdentifier("merchant.unknown"))
        let cases: [(MerchantError.Code, String, () async throws -> Void)] = [
            (.tooManyDomains, "100", { try await bench.register("full", ["one.example"]) }),
            (.tooManyDomains, "100", { try await bench.register("new", ninetyNine + ["one.example"]) }),
            (.malformed, "domainNames", { try await bench.register("new", ["a.example", "A.example"]) }),
            (.malformed, "domainNames", { try await bench.register("new", []) }),
            (.malformed, "partnerMerchantName", { try await bench.register("new", ["a.example"], name: nil) }),
            (.malformed, "1025", { try await bench.register("new", ["a.example"], name: long) }),
            (.malformed, "partnerMerchantName", { try await bench.register("new", ["a.example"], name: "") }),
            (.malformed, "U+000A", { try await bench.register("new", ["a.example"], name: "a\nb") }),
            (.malformed, "merchantUrl", { try await bench.register("new", ["a.example"], url: "ftp://a.example") }),
            (.malformed, "merchantUrl", { try await bench.register("new", ["a.example"], url: "a.example") }),
            (
                .malformed, "merchantUrl",
                { try await bench.register("new", ["a.example"], url: "https://u:p@a.example") }
            ),
            (
                .merchantNotFound, "merchant.unknown",
                { try await bench.register("new", ["a.example"], merchant: merchant) }
            ),
        ]
        for (code, value, act) in cases {
            let found = await refusal(act)
            #expect(found?.code == code && found?.detail.contains(value) == true, "\(found as Any)")
        }
        #expect(bench.gateway.calls.isEmpty)
        #expect(try await bench.repository.read { try $0.registration(partnerName("new")) } == nil)
    }

    @Test("a new registration without encryptTo needs exactly one platform integrator")
    func integrator() async throws {
        let bench = try await Bench()
        let second = try #require(MerchantIdentifier("platformintegrator.com.example.second"))
        _ = try await bench.operations.merchants.addMerchant(
            second, name: nil, targetActiveKeyPairs: nil, for: bench.request)
        let found = await refusal { try await bench.register("shop-1", ["a.example"]) }
        #expect(found?.code == .malformed && found?.detail.contains("encryptTo") == true)
        _ = try await bench.operations.merchants.removeMerchant(second, dryRun: false, for: bench.request)
        _ = try await bench.operations.merchants.removeMerchant(Bench.integrator, dryRun: false, for: bench.request)
        let none = await refusal { try await bench.register("shop-1", ["a.example"]) }
        #expect(none?.code == .malformed && none?.detail.contains("encryptTo") == true)
        #expect(bench.gateway.calls.isEmpty)
    }

    @Test("a merchant that a registration names cannot be removed before the registration")
    func merchantInUse() async throws {
        let bench = try await Bench()
        let merchant = try #require(MerchantIdentifier("merchant.com.example.shop"))
        _ = try await bench.operations.merchants.addMerchant(
            merchant, name: nil, targetActiveKeyPairs: nil, for: bench.request)
        try await bench.register("shop-1", ["a.example"], merchant: merchant)
        for named in [merchant, Bench.integrator] {
            let found = await refusal {
                _ = try await bench.operations.merchants.removeMerchant(named, dryRun: false, for: bench.request)
            }
            #expect(found?.code == .merchantInUse && found?.detail.contains("shop-1") == true)
        }
        try await bench.unregister("shop-1")
        _ = try await bench.operations.merchants.removeMerchant(merchant, dryRun: false, for: bench.request)
    }

    @Test("a repeat with the same Idempotency-Key gets the same result without a call to Apple")
    func idempotent() async throws {
        let bench = try await Bench()
        let request = Request(
            caller: Bench.caller, requestId: "r",
            idempotency: .init(
                key: IdempotencyKey(caller: "uid:1", operation: "POST /v1/registrations", value: "k"),
                requestDigest: [1]))
        let order = RequestedRegistration(
            partnerInternalMerchantIdentifier: partnerName("shop-1"), partnerMerchantName: "Shop",
            domainNames: domainNames(["a.example"]), encryptTo: nil, merchantUrl: nil, merchantIdentifier: nil)
        _ = try await bench.operations.registrations.register(order, for: request)
        _ = try await bench.operations.registrations.register(order, for: request)
        #expect(bench.gateway.calls.count == 1)
    }

    @Test("calls for one merchant run one at a time, calls for several merchants concurrently up to a limit")
    func concurrency() async throws {
        let gateway = ScriptedGateway(delay: .milliseconds(3))
        let bench = try await Bench(gateway: gateway)
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<20 {
                group.addTask { _ = try? await bench.register("one", ["d\(index).example"]) }
            }
        }
        #expect(gateway.mostRunning == 1)
        #expect(bench.atApple("one")?.count == 20)
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<100 { group.addTask { _ = try? await bench.register("shop-\(index)", ["a.example"]) } }
        }
        #expect((2...16).contains(gateway.mostRunning))
        #expect(gateway.records.count == 101)
    }

    @Test("the outcome of a call is recorded even if its caller is cancelled")
    func cancelled() async throws {
        let bench = try await Bench(gateway: ScriptedGateway(delay: .milliseconds(20)))
        let task = Task { try await bench.register("shop-1", ["a.example"]) }
        try await Task.sleep(for: .milliseconds(5))
        task.cancel()
        _ = try? await task.value
        #expect(try await bench.wanted("shop-1") == ["a.example"])
        #expect(try await bench.repository.read { try $0.openCalls(after: nil, limit: 10) }.isEmpty)
    }
}
