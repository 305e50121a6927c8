import Crypto
import Foundation
import MerchantTestSupport
import Testing
import Vocabulary

/// Merchant sessions, end to end. Each test runs twice: with the sandbox in Apple's place, and with a server in Python.
@Suite(.enabled(if: Installation.hasPython, "python3 or its package cryptography is not installed"))
struct SessionTests {
    static let merchant = "merchant.com.example.own"
    static let partner = "shop|1"

    let installation: Installation

    init() throws {
        installation = try Installation()
        try installation.apple("init")
    }

    private func hash(_ identifier: String) -> String {
        Hex.encode(Array(SHA256.hash(data: Array(identifier.utf8))))
    }

    /// Expects that the answer is the session that Apple issued last, byte for byte.
    ///
    /// - Parameter count: the number of sessions that Apple has issued so far.
    /// - Returns: what Apple received.
    private func expectLastSession(
        _ answer: Installation.SessionAnswer, of apple: ApplePeer, count: Int,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> [String: Any] {
        #expect(answer.status == 200, "\(answer.text)", sourceLocation: sourceLocation)
        let sessions = try apple.sessions()
        #expect(sessions.count == count, sourceLocation: sourceLocation)
        let last = try #require(sessions.last, sourceLocation: sourceLocation)
        #expect(answer.body == Data((last["session"] as? String ?? "").utf8), sourceLocation: sourceLocation)
        return last
    }

    @Test(arguments: ApplePeer.Kind.allCases)
    func `a session for a merchant with an identity of its own is Apple's, byte for byte, and never reused`(
        kind: ApplePeer.Kind
    ) throws {
        let apple = try ApplePeer(kind, for: installation)
        try installation.startForSessions(apple)
        try installation.addWithIdentity(Self.merchant)
        for count in 1...2 {
            let answer = try installation.session([
                "merchantIdentifier": Self.merchant, "initiativeContext": "shop.example",
                "displayName": "Größe & Söhne / 1",
            ])
            let received = try expectLastSession(answer, of: apple, count: count)
            #expect(received["merchantIdentifier"] as? String == Self.merchant)
            #expect(received["displayName"] as? String == "Größe & Söhne / 1")
            #expect(received["initiative"] as? String == "web")
            #expect(received["initiativeContext"] as? String == "shop.example")
            #expect(received["clientMerchantHash"] as? String == hash(Self.merchant))
        }
        let sessions = try apple.sessions().compactMap { $0["session"] as? String }
        #expect(Set(sessions).count == 2)
        #expect(!installation.log.contains("SSH"), "the log contains a session")
    }

    @Test(arguments: ApplePeer.Kind.allCases)
    func `for a registered merchant Apple gets the partnerInternalMerchantIdentifier and the platform's identity`(
        kind: ApplePeer.Kind
    ) throws {
        let apple = try ApplePeer(kind, for: installation)
        try installation.startForSessions(apple)
        try installation.register(Self.partner, "shop.example", "bücher.example")
        // Apple gets a domain in lower case and ASCII, however the request spells it.
        for (count, (given, sent)) in [
            ("shop.example", "shop.example"), ("SHOP.Example.", "shop.example"),
            ("Bücher.example", "xn--bcher-kva.example"),
        ].enumerated() {
            let answer = try installation.session([
                "partnerInternalMerchantIdentifier": Self.partner, "initiativeContext": given,
            ])
            let received = try expectLastSession(answer, of: apple, count: count + 1)
            #expect(received["merchantIdentifier"] as? String == Self.partner)
            #expect(received["initiativeContext"] as? String == sent)
            #expect(received["clientMerchantHash"] as? String == hash(Installation.integrator))
        }
        let refused = try installation.session([
            "partnerInternalMerchantIdentifier": Self.partner, "initiativeContext": "www.shop.example",
        ])
        #expect(refused.code == "sessionDomainNotRegistered", "\(refused.text)")
        #expect(try apple.sessions().count == 3, "the daemon itself refuses a domain that is not registered")
    }

    @Test(arguments: ApplePeer.Kind.allCases)
    func `in a frame, the session is for the domain of the top-level page, from the host of the validationURL`(
        kind: ApplePeer.Kind
    ) throws {
        let apple = try ApplePeer(kind, for: installation)
        try installation.startForSessions(apple)
        // The buyer is on shop.example. The frame with the payment page comes from pay.platform.example.
        try installation.register(Self.partner, "shop.example")
        let inFrame = [
            "partnerInternalMerchantIdentifier": Self.partner,
            "validationURL": "\(apple.url)/paymentservices/startSession",
        ]
        let answer = try installation.session(inFrame.merging(["initiativeContext": "shop.example"]) { $1 })
        let received = try expectLastSession(answer, of: apple, count: 1)
        #expect(received["initiativeContext"] as? String == "shop.example")
        let frame = try installation.session(inFrame.merging(["initiativeContext": "pay.platform.example"]) { $1 })
        #expect(frame.code == "sessionDomainNotRegistered", "\(frame.text)")
        let forged = try installation.session([
            "partnerInternalMerchantIdentifier": Self.partner, "initiativeContext": "shop.example",
            "validationURL": "https://localhost:1/paymentservices/startSession",
        ])
        #expect(forged.code == "validationURLRefused", "\(forged.text)")
        #expect(try apple.sessions().count == 1)
    }

    @Test(arguments: ApplePeer.Kind.allCases)
    func `with unregistered-domains: warn, Apple refuses the unregistered domain; the integrator gets no session`(
        kind: ApplePeer.Kind
    ) throws {
        let apple = try ApplePeer(kind, for: installation)
        try installation.startForSessions(apple, sessions: "unregistered-domains: warn")
        try installation.register(Self.partner, "shop.example")
        let domain = try installation.session([
            "partnerInternalMerchantIdentifier": Self.partner, "initiativeContext": "other.example",
        ])
        #expect(domain.code == "sessionDomainNotRegistered", "\(domain.text)")
        let integrator = try installation.session([
            "merchantIdentifier": Installation.integrator, "initiativeContext": "shop.example",
        ])
        #expect(integrator.code == "sessionMerchantWrongKind", "\(integrator.text)")
        #expect(try apple.sessions().isEmpty)
    }
}
