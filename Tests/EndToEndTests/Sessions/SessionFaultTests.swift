import Foundation
import MerchantTestSupport
import Testing

/// Requests for merchant sessions while Apple's gateway fails, or the merchant's identity is missing.
@Suite struct SessionFaultTests {
    static let merchant = "merchant.com.example.own"

    let installation: Installation
    let apple: ApplePeer

    init() throws {
        installation = try Installation()
        try installation.apple("init")
        apple = try ApplePeer(.sandbox, for: installation)
        try installation.startForSessions(apple, sessions: "time-limit: 2s")
    }

    private func session() throws -> Installation.SessionAnswer {
        try installation.session(["merchantIdentifier": Self.merchant, "initiativeContext": "shop.example"])
    }

    @Test(
        arguments: [
            ("html", "gatewayFailed"), ("malformed", "gatewayFailed"), ("empty", "gatewayFailed"),
            ("large", "gatewayFailed"), ("redirect", "gatewayFailed"), ("500", "gatewayFailed"),
            ("hang", "gatewayResponseNotReceived"), ("trickle", "gatewayResponseNotReceived"),
            ("reset-after-acting", "gatewayResponseNotReceived"), ("answer-lost", "gatewayResponseNotReceived"),
            ("401", "gatewayUnauthorized"), ("417", "gatewayUnauthorized"), ("429", "gatewayRateLimited"),
        ])
    func `each fault of Apple's gateway gets its code within the time limit, and the next session succeeds`(
        fault: String, code: String
    ) throws {
        try installation.addWithIdentity(Self.merchant)
        try apple.setFaults("\(fault)@paymentSession")
        let start = ContinuousClock.now
        let failed = try session()
        // The time limit is 2 seconds; the rest is for a slow machine.
        #expect(ContinuousClock.now - start < .seconds(8))
        #expect(failed.code == code, "\(failed.text)")
        try apple.setFaults()
        #expect(try session().status == 200)
    }

    @Test func `the daemon does not repeat a session request whose response is lost`() throws {
        try installation.addWithIdentity(Self.merchant)
        try apple.setFaults("answer-lost:x1@paymentSession")
        #expect(try session().code == "gatewayResponseNotReceived")
        #expect(try apple.calls("paymentSession") == 1)
    }

    @Test func `a merchant without an identity key pair gets no session`() throws {
        #expect(try installation.ctl("merchant", "add", Self.merchant).status == 0)
        let refused = try session()
        #expect(refused.code == "sessionIdentityMissing", "\(refused.text)")
        #expect(try apple.calls("paymentSession") == 0)
    }

    @Test func `a merchant whose identity certificate has expired gets no session until it has a valid one`() throws {
        #expect(try installation.ctl("merchant", "add", Self.merchant).status == 0)
        Installation.wait(until: try installation.addExpiringIdentity(Self.merchant))
        let refused = try session()
        #expect(refused.code == "sessionIdentityMissing", "\(refused.text)")
        #expect(try apple.calls("paymentSession") == 0)
        _ = try installation.certifiedKey(Self.merchant, "second", "--purpose", "identity")
        #expect(try session().status == 200)
    }

    @Test func `a merchant with two identities gets sessions, also after the newer one is revoked`() throws {
        try installation.addWithIdentity(Self.merchant)
        let second = try installation.certifiedKey(Self.merchant, "second", "--purpose", "identity")
        #expect(try session().status == 200)
        let revoked = try installation.ctl("key", "revoke", second, "--reason", "test", "--yes")
        #expect(revoked.status == 0, "\(revoked.error)")
        #expect(try session().status == 200)
    }

    @Test func `an integrator's identifier as merchantIdentifier is refused without a call to Apple`() throws {
        try installation.addWithIdentity(Installation.integrator)
        let refused = try installation.session([
            "merchantIdentifier": Installation.integrator, "initiativeContext": "shop.example",
        ])
        #expect(refused.code == "sessionMerchantWrongKind", "\(refused.text)")
        #expect(try apple.calls("paymentSession") == 0)
    }
}
