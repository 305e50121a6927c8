import Foundation
import MerchantTestSupport
import Testing

/// Events of merchant tokens that cannot be fetched, verified, decrypted or attributed.
@Suite(.enabled(if: Installation.hasPython, "python3 or its package cryptography is not installed"))
struct TokenEventFaultTests {
    static let merchant = "merchant.com.example.subscription"
    static let token = "DAPLMC0001"

    let installation: Installation
    let apple: ApplePeer
    let webhook: WebhookReceiver
    /// The secret URL for the notifications of the merchant's tokens.
    let url: String
    let keyHash: String

    init() throws {
        installation = try Installation()
        try installation.apple("init")
        apple = try ApplePeer(.sandbox, for: installation)
        webhook = try WebhookReceiver(for: installation)
        let settings = try installation.subscriptionSettings(apple, webhook, port: Installation.freePort())
        try installation.start(config: settings)
        try installation.addWithIdentity(Self.merchant)
        keyHash = try installation.certifiedKey(Self.merchant, "key")
        url = try installation.notificationURL(Self.merchant)
    }

    @Test(arguments: ["html", "malformed", "hang", "trickle", "redirect", "500", "answer-lost", "401", "403", "417"])
    func `an event that cannot be fetched waits, and is delivered once Apple responds`(fault: String) throws {
        try apple.setFaults("\(fault)@merchantTokenEvent")
        let event = try apple.createEvent("UNLINK", of: Self.token, Self.merchant, ["tokenNotificationURL": url])
        try installation.eventually("the daemon has tried to fetch the event", within: .seconds(20)) {
            try apple.calls("merchantTokenEvent") > 0
        }
        #expect(
            try apple.event(event).notifications == ["200"], "a notification is accepted before its event is fetched")
        #expect(try webhook.events().isEmpty)
        try apple.setFaults()
        let delivery = try webhook.delivery(of: event, to: installation, within: .seconds(60))
        #expect(delivery.kind == "merchantTokenUnlinked")
    }

    @Test func `an event of another platform's merchant is not delivered and does not delay others`() throws {
        let foreign = try apple.createEvent(
            "UNLINK", of: "DAPLMC0002", "merchant.com.example.foreign", ["tokenNotificationURL": url])
        let own = try apple.createEvent("UNLINK", of: Self.token, Self.merchant, ["tokenNotificationURL": url])
        _ = try webhook.delivery(of: own, to: installation)
        #expect(try apple.event(foreign).notifications == ["200"])
        #expect(try apple.event(foreign).fetches == 0)
        #expect(try !webhook.events().contains { $0.eventIdentifier == foreign })
        #expect(try installation.merchantToken("DAPLMC0002") == nil)
    }

    @Test func `an event of a token that the daemon knows from another merchant changes nothing`() throws {
        let other = "merchant.com.example.other"
        try installation.addWithIdentity(other)
        let otherURL = try installation.notificationURL(other)
        let first = try apple.createEvent(
            "UPDATED_METADATA", of: Self.token, Self.merchant, ["tokenNotificationURL": url])
        _ = try webhook.delivery(of: first, to: installation)
        // The event belongs to the other merchant, but names this merchant's token.
        let forged = try apple.createEvent(
            "UNLINK", of: "DAPLMC0009", other,
            [
                "tokenNotificationURL": otherURL,
                "response": #"{"eventType":"UNLINK","merchantTokenIdentifier":"\#(Self.token)","reason":"x"}"#,
            ])
        try installation.eventually("the event is fetched") { try apple.event(forged).fetches > 0 }
        let last = try apple.createEvent(
            "UPDATED_METADATA", of: "DAPLMC0010", other, ["tokenNotificationURL": otherURL])
        _ = try webhook.delivery(of: last, to: installation)
        #expect(try !webhook.events().contains { $0.eventIdentifier == forged })
        #expect(try installation.merchantToken(Self.token)?["state"] as? String == "linked")
    }

    /// Creates an event with encrypted metadata, and returns its delivery.
    private func update(_ further: [String: Any] = [:]) throws -> WebhookReceiver.Delivery {
        let metadata: [String: Any] = ["certificate": installation.path("key.cer"), "mpanId": "mpan-2"]
        let event = try apple.createEvent(
            "UPDATED_METADATA", of: Self.token, Self.merchant,
            ["tokenNotificationURL": url, "encryptedMetadata": metadata.merging(further) { $1 }])
        return try webhook.delivery(of: event, to: installation)
    }

    @Test func `metadata encrypted to a revoked key is reported with the key's hash, and without the content`() throws {
        #expect(try update().mpanIdentifier == "mpan-2")
        _ = try installation.certifiedKey(Self.merchant, "second")
        let revoked = try installation.ctl("key", "revoke", keyHash, "--reason", "test", "--yes")
        #expect(revoked.status == 0, "\(revoked.error)")
        let update = try update()
        #expect(update.kind == "merchantTokenMetadataUpdated" && update.severity == "warning", "\(update)")
        #expect(update.publicKeyHash == keyHash && update.mpanIdentifier == nil)
    }

    @Test func `metadata whose signature fails is not decrypted`() throws {
        let update = try update(["validSignature": false])
        #expect(update.kind == "merchantTokenMetadataUpdated" && update.severity == "warning", "\(update)")
        #expect(update.mpanIdentifier == nil)
    }

    @Test func `texts longer than Apple's limits do not prevent the delivery of an event`() throws {
        let long = String(repeating: "x", count: 2_000)
        let event = try apple.createEvent(
            "UPDATED_CARD_ART", of: Self.token, Self.merchant,
            [
                "tokenNotificationURL": url, "reason": long,
                "merchantTokenMetadata": [
                    "cardArt": [["name": long, "type": "image/png", "url": "https://art.example/\(long)"]],
                    "cardMetadata": ["cardCountry": long, "longDescription": long, "fpanSuffix": "1111"],
                ],
            ])
        let delivery = try webhook.delivery(of: event, to: installation)
        #expect(delivery.kind == "merchantTokenCardArtUpdated" && delivery.card?["fpanSuffix"] as? String == "1111")
        #expect(!delivery.text.contains(long), "the delivery contains a text of 2,000 characters")
    }

    @Test(arguments: [false, true])
    func `notifications for a merchant without a valid identity wait until the merchant has one`(
        hasExpiredIdentity: Bool
    ) throws {
        let other = "merchant.com.example.other"
        #expect(try installation.ctl("merchant", "add", other).status == 0)
        if hasExpiredIdentity { Installation.wait(until: try installation.addExpiringIdentity(other)) }
        let otherURL = try installation.notificationURL(other)
        let event = try apple.createEvent("UNLINK", of: "DAPLMC0002", other, ["tokenNotificationURL": otherURL])
        try installation.eventually("the notification is accepted") {
            try apple.event(event).notifications == ["200"]
        }
        #expect(try webhook.events().isEmpty)
        #expect(try apple.event(event).fetches == 0)
        _ = try installation.certifiedKey(other, "other", "--purpose", "identity")
        // Without the new key, the daemon would pause for 30 s.
        #expect(try webhook.delivery(of: event, to: installation, within: .seconds(15)).merchant == other)
    }
}
