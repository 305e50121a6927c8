import Foundation
import MerchantTestSupport
import Testing
import Vocabulary

/// Merchant sessions of `applepay-sandbox serve`.
@Suite(.enabled(if: Programs.hasOpenSSL, "openssl is not installed"))
final class PaymentSessionTests: ServedGateway {
    private static let path = "/paymentservices/paymentSession"
    private static let integrator = "platformintegrator.com.example.sandbox"

    private var own: String { fixture.merchant.rawValue }

    private func body(_ fields: [String: Any]) throws -> String {
        let fields = ["displayName": "Shop", "initiative": "web", "initiativeContext": "shop.example.com"].merging(
            fields
        ) { $1 }
        return String(decoding: try JSONSerialization.data(withJSONObject: fields), as: UTF8.self)
    }

    private func session(_ fields: [String: Any], identity: String? = "good") throws -> Answer {
        try request(Self.path, body(fields), identity: identity)
    }

    private func register(_ partner: String, _ domains: String, identity: String) throws {
        let answer = try request(
            "/paymentservices/registerMerchant",
            #"{"partnerInternalMerchantIdentifier":"\#(partner)","partnerMerchantName":"Shop","encryptTo":"x","domainNames":[\#(domains)]}"#,
            identity: identity)
        #expect(answer.status == 200)
    }

    private func hash(_ text: String) -> String {
        MerchantIdentifier(text).map { MerchantIdentifierHash(of: $0).hex.uppercased() } ?? ""
    }

    @Test func `a session has Apple's fields, expires after an hour, and is recorded as it was sent`() throws {
        try start()
        let answer = try session(["merchantIdentifier": own, "displayName": "Größe / 1"])
        #expect(answer.status == 200)
        let session = try #require(
            try JSONSerialization.jsonObject(with: Data(answer.body.utf8)) as? [String: Any])
        #expect(
            Set(session.keys) == [
                "epochTimestamp", "expiresAt", "merchantSessionIdentifier", "nonce", "merchantIdentifier",
                "domainName", "displayName", "signature", "operationalAnalyticsIdentifier", "retries", "pspId",
            ])
        let issuedAt = try #require(session["epochTimestamp"] as? Int)
        #expect(session["expiresAt"] as? Int == issuedAt + 3_600_000)
        #expect(session["merchantIdentifier"] as? String == hash(own))
        #expect(session["domainName"] as? String == "shop.example.com")
        #expect(session["displayName"] as? String == "Größe / 1")
        let recorded = try #require(
            try JSONSerialization.jsonObject(with: Data(control("GET", "/sessions").utf8)) as? [String: Any])
        let items = try #require(recorded["items"] as? [[String: Any]])
        #expect(items.map { $0["session"] as? String } == [answer.body])
        #expect(items.first?["clientMerchantHash"] as? String == hash(own).lowercased())
    }

    @Test func `with --merchant-domain a merchant may use only its domains, and needs none in an app`() throws {
        try start("--merchant-domain", "\(own)=Shop.example.com", "--merchant-domain", "merchant.x=other.example.com")
        #expect(try session(["merchantIdentifier": own]).status == 200)
        let refused = try session(["merchantIdentifier": own, "initiativeContext": "other.example.com"])
        #expect(refused.status == 400)
        #expect(refused.body.contains("merchantId=\(hash(own)) not registered for domain=other.example.com"))
        // A payment in an app has no domain.
        #expect(
            try session(["merchantIdentifier": own, "initiative": "in_app", "initiativeContext": "ABCDE12345"]).status
                == 200)
    }

    @Test func `a registered merchant needs a registered domain and the identity of its platform`() throws {
        try start()
        try createIdentity("platform", of: Self.integrator)
        try createIdentity("other", of: "platformintegrator.com.example.other")
        try register("shop|1", #""shop.example.com""#, identity: "platform")
        let partner: [String: Any] = ["merchantIdentifier": "shop|1"]
        #expect(try session(partner, identity: "platform").status == 200)
        for (fields, identity, status, message) in [
            (["initiativeContext": "www.shop.example.com"], "platform", 400, "not registered for domain=www."),
            ([:], "other", 417, "unauthorized to process transactions on behalf of merchantId="),
            ([:], "good", 417, "unauthorized to process transactions on behalf of merchantId="),
            (["merchantIdentifier": "shop|2"], "platform", 400, "not registered for domain=shop.example.com"),
            (["merchantIdentifier": own], "platform", 417, "unauthorized to process transactions"),
            (["merchantIdentifier": Self.integrator], "platform", 417, "unauthorized to process transactions"),
        ] as [([String: Any], String, Int, String)] {
            let refused = try session(partner.merging(fields) { $1 }, identity: identity)
            #expect(refused.status == status && refused.body.contains(message), "\(fields) \(identity): \(refused)")
        }
        #expect(try session(partner, identity: nil).status == 401)
    }

    @Test func `a field that violates Apple's reference is refused with 400`() throws {
        try start()
        for fields in [
            ["merchantIdentifier": ""], ["merchantIdentifier": 1], ["displayName": ""],
            ["displayName": String(repeating: "ö", count: 33)], ["initiative": "mail"],
            ["initiativeContext": "https://shop.example.com"], ["initiativeContext": "shop.example.com:443"],
            ["initiative": "messaging", "initiativeContext": "https://x.example"],
            ["initiative": "messaging", "initiativeContext": "x.example", "domainName": "shop.example.com"],
            ["domainName": "shop.example.com"], ["initiative": "in_app", "initiativeContext": "a b"],
        ] as [[String: Any]] {
            let refused = try session(["merchantIdentifier": own].merging(fields) { $1 })
            #expect(refused.status == 400, "\(fields): \(refused)")
        }
        #expect(try request(Self.path, "[]").status == 400)
        #expect(
            try session(["merchantIdentifier": own, "displayName": String(repeating: "ö", count: 32)]).status == 200)
        #expect(
            try session([
                "merchantIdentifier": own, "initiative": "messaging", "initiativeContext": "https://x.example/messages",
                "domainName": "shop.example.com",
            ]).status == 200)
    }

    @Test func `with the fault html the response is a page, and with trickle it is slow`() throws {
        try start("--fail", "html:x1@paymentSession", "--fail", "trickle:x1@paymentSession")
        let page = try session(["merchantIdentifier": own])
        #expect(page.status == 200 && page.body.hasPrefix("<!DOCTYPE html>"))
        // A session has thousands of bytes, and each byte takes 0.1 seconds. 28 is curl's status for its time limit.
        let slow = try request(Self.path, body(["merchantIdentifier": own]), identity: "good", "--max-time", "1")
        #expect(slow.exit == 28)
        #expect(try session(["merchantIdentifier": own]).status == 200)
        #expect(try control("GET", "/statistics").contains(#""paymentSession":3"#))
    }
}
