import MerchantCore
import MerchantOperations
import MerchantTestSupport
import Testing
import Vocabulary

@Suite struct SessionRequestTests {
    private let bench = SessionBench()
    private var orderWithOwnIdentity: SessionOrder { bench.order(for: .own(SessionBench.merchant)) }

    @Test func `for a merchant with its own identity, Apple gets its merchant ID and its client certificate`()
        async throws
    {
        try bench.addMerchant()
        let session = try await bench.operations.merchantSessions.request(orderWithOwnIdentity, for: bench.context)
        #expect(session == RecordingSessionGateway.session)
        let request = SessionRequest(
            merchantIdentifier: "merchant.com.example.shop", displayName: "Shop", initiative: .web,
            initiativeContext: "shop.example.com")
        #expect(
            bench.gateway.calls == [
                .init(request: request, host: nil, owner: .merchant(SessionBench.merchant), timeLimit: .seconds(7))
            ])
        #expect(bench.count(.own, .issued) == 1 && bench.count(.registered, .issued) == 0)
        #expect(bench.repository.audit.isEmpty)
    }

    @Test func `for a registered merchant, Apple gets its partner identifier and the platform's client certificate`()
        async throws
    {
        try bench.addRegistration(desired: ["shop.example.com"])
        let session = try await bench.operations.merchantSessions.request(bench.order(), for: bench.context)
        #expect(session == RecordingSessionGateway.session)
        #expect(bench.gateway.calls.map(\.request.merchantIdentifier) == ["shop|4711"])
        #expect(bench.gateway.calls.map(\.owner) == [.platform])
        #expect(bench.count(.registered, .issued) == 1)
    }

    @Test func `each request gets a new session`() async throws {
        try bench.addRegistration(desired: ["shop.example.com"])
        for _ in 0..<3 { _ = await bench.requestSession(bench.order()) }
        #expect(bench.gateway.calls.count == 3)
    }

    @Test func `the fields of messaging and in-app sessions reach Apple`() async throws {
        try bench.addMerchant()
        let merchant = SessionOrder.Merchant.own(SessionBench.merchant)
        let places: [SessionOrder.Place] = [
            .messaging(url: "https://bcrw.apple.com/1", domainName: domainNames(["shop.example.com"])[0]),
            .inApp(teamIdentifier: "ABCDE12345"),
        ]
        for place in places {
            let order = SessionOrder(for: merchant, displayName: "Shop", place: place)
            #expect(await bench.requestSession(order) == nil)
        }
        let requests = bench.gateway.calls.map(\.request)
        #expect(requests.map(\.initiative) == [.messaging, .inApp])
        #expect(requests.map(\.initiativeContext) == ["https://bcrw.apple.com/1", "ABCDE12345"])
        #expect(requests.map(\.domainName) == ["shop.example.com", nil])
    }

    // MARK: Merchants

    @Test(
        "without a valid identity there is no call",
        arguments: [
            [], [-800...(-1)], [1...700], [-800...(-100), -700...(-1)], [-800...(-1), 1...700],
        ] as [[ClosedRange<Double>]])
    func invalidIdentity(validityInDays: [ClosedRange<Double>]) async throws {
        try bench.addMerchant(identities: validityInDays)
        #expect(await bench.requestSession(orderWithOwnIdentity)?.code == .sessionIdentityMissing)
        #expect(bench.gateway.calls.isEmpty)
        #expect(bench.count(.own, .identityMissing) == 1)
    }

    @Test(
        "one valid identity is enough",
        arguments: [[-800...(-1), -1...700], [-1...700, -2...600], [1...700, -1...5]] as [[ClosedRange<Double>]])
    func oneValidIdentity(validityInDays: [ClosedRange<Double>]) async throws {
        try bench.addMerchant(identities: validityInDays)
        #expect(await bench.requestSession(orderWithOwnIdentity) == nil)
    }

    @Test("an identity that is not active does not count", arguments: [KeyState.pending, .revoked, .destroyed])
    func inactiveIdentity(state: KeyState) async throws {
        try bench.addMerchant(state: state)
        #expect(await bench.requestSession(orderWithOwnIdentity)?.code == .sessionIdentityMissing)
    }

    @Test func `the advice names the identity key that waits for its certificate, if there is one`() async throws {
        try bench.addMerchant(state: .pending)
        let hash = PublicKeyHash(of: Array("\(SessionBench.merchant) 0".utf8))
        let error = await bench.requestSession(orderWithOwnIdentity)
        #expect(error?.code == .sessionIdentityMissing && error?.detail.contains("\(hash)") == true)
        #expect(error?.detail.contains("key generate") == false)
    }

    @Test func `a merchant that is only registered gets the advice to use its registration`() async throws {
        try bench.addMerchant(identities: [])
        try bench.addRegistration(of: SessionBench.merchant, desired: ["shop.example.com"])
        let error = await bench.requestSession(orderWithOwnIdentity)
        #expect(error?.code == .sessionIdentityMissing && error?.detail.contains("'shop|4711'") == true)
    }

    @Test func `an unknown and a removed merchant get no session`() async throws {
        #expect(await bench.requestSession(orderWithOwnIdentity)?.code == .merchantNotFound)
        try bench.addMerchant(identities: [], isRemoved: true)
        let error = await bench.requestSession(orderWithOwnIdentity)
        #expect(error?.code == .merchantNotFound && error?.detail.contains("was removed") == true)
        #expect(bench.gateway.calls.isEmpty)
    }

    @Test func `an unknown registration, and one without domains, get no session`() async throws {
        #expect(await bench.requestSession(bench.order())?.code == .registrationNotFound)
        try bench.addRegistration(desired: [], atApple: [])
        #expect(await bench.requestSession(bench.order())?.code == .registrationNotFound)
        #expect(bench.gateway.calls.isEmpty && bench.count(.registered, .merchantNotFound) == 2)
    }

    @Test(
        "a platform integrator gets no session, not even under a partner identifier",
        arguments: [
            .own(Bench.integrator), .registered(partnerName(Bench.integrator.rawValue)),
        ] as [SessionOrder.Merchant])
    func integrator(merchant: SessionOrder.Merchant) async throws {
        try bench.addMerchant(Bench.integrator)
        #expect(await bench.requestSession(bench.order(for: merchant))?.code == .sessionMerchantWrongKind)
        #expect(bench.gateway.calls.isEmpty)
    }

    @Test
    func `a session's owner is the merchant, or the merchant of the registration, or nil if the registration has none`()
        async throws
    {
        let sessions = bench.operations.merchantSessions
        #expect(try await sessions.owner(of: orderWithOwnIdentity) == SessionBench.merchant)
        await #expect(throws: MerchantError.self) { try await sessions.owner(of: bench.order()) }
        try bench.addRegistration(desired: ["shop.example.com"])
        #expect(try await sessions.owner(of: bench.order()) == nil)
        let other = partnerName("shop-2")
        try bench.addRegistration(other, of: SessionBench.merchant, desired: ["shop.example.com"])
        #expect(try await sessions.owner(of: bench.order(for: .registered(other))) == SessionBench.merchant)
    }

    // MARK: Domains

    @Test(
        "a registered merchant's domain must equal one of its desired domains or one of the domains in Apple's record",
        arguments: [
            ("shop.example.com", true), ("at-apple.example", true), ("www.shop.example.com", false),
            ("example.com", false), ("other.example", false),
        ])
    func registeredDomain(domain: String, isRegistered: Bool) async throws {
        try bench.addRegistration(desired: ["shop.example.com"], atApple: ["at-apple.example"])
        let error = await bench.requestSession(bench.order(domain: domain))
        #expect(error?.code == (isRegistered ? nil : .sessionDomainNotRegistered))
        #expect(bench.gateway.calls.count == (isRegistered ? 1 : 0))
    }

    @Test func `if a merchant with its own identity also has registrations, one of these must have the domain`()
        async throws
    {
        try bench.addMerchant()
        let order = bench.order(for: .own(SessionBench.merchant), domain: "new.example")
        // Only Apple knows the domains of a merchant without registrations.
        #expect(await bench.requestSession(order) == nil)
        try bench.addRegistration(of: SessionBench.merchant, desired: ["shop.example.com"])
        #expect(await bench.requestSession(order)?.code == .sessionDomainNotRegistered)
        try bench.addRegistration(partnerName("shop-2"), of: SessionBench.merchant, desired: ["new.example"])
        #expect(await bench.requestSession(order) == nil)
        #expect(bench.count(.own, .domainNotRegistered) == 1)
    }

    @Test func `the domain is found in any of many registrations`() async throws {
        try bench.addMerchant()
        for number in 0..<250 {
            try bench.addRegistration(
                partnerName("shop-\(number)"), of: SessionBench.merchant, desired: ["shop-\(number).example"])
        }
        let merchant = SessionOrder.Merchant.own(SessionBench.merchant)
        #expect(await bench.requestSession(bench.order(for: merchant, domain: "shop-249.example")) == nil)
        let unknown = await bench.requestSession(bench.order(for: merchant, domain: "shop-250.example"))
        #expect(unknown?.code == .sessionDomainNotRegistered)
    }

    @Test func `with the setting warn, an unregistered domain is logged and Apple decides`() async throws {
        let bench = SessionBench(.warn)
        try bench.addRegistration(desired: ["shop.example.com"])
        #expect(await bench.requestSession(bench.order()) == nil)
        #expect(bench.warnings.value.isEmpty)
        #expect(await bench.requestSession(bench.order(domain: "other.example")) == nil)
        #expect(bench.warnings.value.map(\.domain) == ["other.example"])
        #expect(bench.warnings.value.map(\.merchantIdentifier) == ["shop|4711"])
        #expect(bench.gateway.calls.count == 2)
    }

    @Test func `a change of the settings applies to the next request`() async throws {
        try bench.addRegistration(desired: ["shop.example.com"])
        let order = bench.order(validationURL: "https://127.0.0.1:8443/paymentservices/paymentSession")
        #expect(await bench.requestSession(order) == nil)
        bench.policy.change(to: SessionPolicy(timeLimit: .seconds(3), validationHosts: []))
        #expect(await bench.requestSession(order)?.code == .validationURLRefused)
        #expect(await bench.requestSession(bench.order()) == nil)
        #expect(bench.gateway.calls.map(\.timeLimit) == [.seconds(7), .seconds(3)])
    }
}
