import Foundation
import MerchantTestSupport
import Testing

/// The life of a subscription, with two servers in Apple's place: payment with a merchant token, notification, details,
/// webhook, unlink.
@Suite(.enabled(if: Installation.hasPython, "python3 or its package cryptography is not installed"))
struct SubscriptionTests {
    static let merchant = "merchant.com.example.subscription"
    static let token = "DAPLMC0001"
    /// A card number for tests, which appears nowhere else.
    static let mpan = "5204247750001471"

    let installation: Installation

    init() throws {
        installation = try Installation()
        try installation.apple("init")
    }

    /// Starts the daemon with a merchant that has a payment processing key, and an identity of its own or the
    /// platform's.
    ///
    /// - Returns: the publicKeyHash of the payment processing key.
    private func start(
        _ apple: ApplePeer, _ webhook: WebhookReceiver, hasOwnIdentity: Bool, _ settings: String...
    ) throws -> String {
        let settings = try installation.subscriptionSettings(apple, webhook, port: Installation.freePort(), settings)
        try installation.start(config: settings)
        try installation.addWithIdentity(hasOwnIdentity ? Self.merchant : Installation.integrator)
        if !hasOwnIdentity { #expect(try installation.ctl("merchant", "add", Self.merchant).status == 0) }
        return try installation.certifiedKey(Self.merchant, "key")
    }

    @Test(arguments: ApplePeer.Kind.allCases, [false, true])
    func `a subscription's payment, notifications, events and unlink reach the mirror, the webhook and Apple`(
        kind: ApplePeer.Kind, isWrapped: Bool
    ) throws {
        let apple = try ApplePeer(kind, for: installation, wrapsEvents: isWrapped)
        let webhook = try WebhookReceiver(for: installation)
        // The runs with wrapped events also use another identity and another method to fetch events.
        let hash = try start(
            apple, webhook, hasOwnIdentity: isWrapped, "event-method: \(isWrapped ? "POST" : "GET")")

        // The payment: a payment token that contains a merchant token.
        let paid = try installation.ctl(
            "token", "decrypt", try apple.mintToken(Self.token, to: "key.cer"), "--merchant", Self.merchant, "--raw")
        #expect(paid.status == 0, "\(paid.error)")
        #expect(try paid.text("merchantTokenIdentifier") == Self.token)
        try installation.eventually("the payment is in the mirror", within: .seconds(30)) {
            try installation.merchantToken(Self.token) != nil
        }
        #expect(try installation.merchantToken(Self.token)?["state"] as? String == "linked")
        #expect(try installation.merchantToken(Self.token)?["merchantIdentifier"] as? String == Self.merchant)

        // An event with encrypted metadata: notification, details, webhook.
        let url = try installation.notificationURL(Self.merchant)
        let updated = try apple.createEvent(
            "UPDATED_METADATA", of: Self.token, Self.merchant,
            [
                "tokenNotificationURL": url,
                "merchantTokenMetadata": ["cardMetadata": ["cardCountry": "DE", "fpanSuffix": "1471"]],
                "encryptedMetadata": [
                    "certificate": installation.path("key.cer"), "mpan": Self.mpan, "mpanId": "mpan-2",
                    "expirationDate": "310630",
                ],
            ])
        let update = try webhook.delivery(of: updated, to: installation)
        #expect(update.kind == "merchantTokenMetadataUpdated" && update.severity == "notice", "\(update)")
        #expect(update.token == Self.token && update.merchant == Self.merchant && update.publicKeyHash == hash)
        #expect(update.mpanIdentifier == "mpan-2")
        #expect(
            update.card?["fpanSuffix"] as? String == "1471" && update.card?["expirationDate"] as? String == "310630")
        #expect(try apple.event(updated).notifications == ["200"])

        // The daemon tells Apple another URL, and asks for the token's public key.
        let newURL = try installation.notificationURL(Self.merchant)
        #expect(newURL != url)
        #expect(
            try installation.ctl("merchant-token", "set-notification-url", Self.token, newURL).status == 0)
        #expect(try apple.token(Self.token)["tokenNotificationURL"] as? String == newURL)
        let key = try installation.ctlJSON("merchant-token", "public-key", Self.token)
        #expect(Data(base64Encoded: key["merchantTokenPublicKey"] as? String ?? "")?.count == 97)
        #expect(try installation.ctl("merchant-token", "notify", Self.token).status == 0)
        #expect(try apple.token(Self.token)["usageNotifications"] as? Int == 1)

        // The platform ends the subscription: unlink.
        let unlinked = try installation.ctl("merchant-token", "unlink", Self.token, "--yes")
        #expect(unlinked.status == 0, "\(unlinked.error)")
        #expect(try apple.token(Self.token)["state"] as? String == "unlinked")
        #expect(try installation.merchantToken(Self.token)?["state"] as? String == "unlinked")
        try expectNoAccountNumber(in: webhook)
    }

    @Test(arguments: ApplePeer.Kind.allCases)
    func `each type of event, also an unknown one, becomes one event of its kind, in the order of the notifications`(
        kind: ApplePeer.Kind
    ) throws {
        let apple = try ApplePeer(kind, for: installation)
        let webhook = try WebhookReceiver(for: installation)
        _ = try start(apple, webhook, hasOwnIdentity: false)
        let url = try installation.notificationURL(Self.merchant)
        let kinds = [
            ("UPDATED_CARD_ART", "merchantTokenCardArtUpdated"),
            ("UPDATED_MERCHANT_TOKEN_PUBLIC_KEY", "merchantTokenPublicKeyUpdated"),
            ("UPDATED_SOMETHING_NEW", "merchantTokenEvent"), ("UPDATED_METADATA", "merchantTokenMetadataUpdated"),
            ("UNLINK", "merchantTokenUnlinked"),
        ]
        var order: [String] = []
        for (type, _) in kinds {
            let event = try apple.createEvent(
                type, of: Self.token, Self.merchant,
                [
                    "tokenNotificationURL": url, "reason": "USER",
                    "merchantTokenMetadata": [
                        "cardArt": [["name": "art", "type": "image/png", "url": "https://art.example/1.png"]]
                    ],
                ])
            // The next event occurs when the notification of this one has arrived.
            try installation.eventually("the notification is accepted") {
                try apple.event(event).notifications == ["200"]
            }
            order.append(event)
        }
        for (event, (type, kind)) in zip(order, kinds) {
            let delivery = try webhook.delivery(of: event, to: installation)
            #expect(delivery.kind == kind && delivery.eventType == type, "\(delivery)")
        }
        let delivered = try webhook.events().map(\.eventIdentifier)
        #expect(delivered.reduce(into: []) { if $0.last != $1 { $0.append($1) } } == order)
        #expect(try installation.merchantToken(Self.token)?["state"] as? String == "unlinked")
    }

    @Test(arguments: ApplePeer.Kind.allCases)
    func `after a notification without a secret path, the event is fetched for the only platform integrator`(
        kind: ApplePeer.Kind
    ) throws {
        let apple = try ApplePeer(kind, for: installation)
        let webhook = try WebhookReceiver(for: installation)
        _ = try start(apple, webhook, hasOwnIdentity: false, "path: /apple/tokens")
        let port = try installation.portalPort()
        let event = try apple.createEvent(
            "UNLINK", of: Self.token, Installation.integrator,
            ["tokenNotificationURL": "https://localhost:\(port)/apple/tokens"])
        let delivery = try webhook.delivery(of: event, to: installation)
        #expect(delivery.kind == "merchantTokenUnlinked" && delivery.merchant == Installation.integrator)
    }

    /// Expects that no file of the daemon and no delivery contains the account number.
    private func expectNoAccountNumber(in webhook: WebhookReceiver) throws {
        #expect(!installation.log.contains(Self.mpan))
        #expect(try webhook.events().allSatisfy { !$0.text.contains(Self.mpan) })
        let files = try FileManager.default.contentsOfDirectory(atPath: installation.stateDirectory)
        #expect(files.contains("merchantkeyd.sqlite") != TestStore.isPostgreSQL)
        for file in files {
            // A socket cannot be read.
            guard let bytes = FileManager.default.contents(atPath: installation.path("state/\(file)")) else { continue }
            #expect(bytes.firstRange(of: Data(Self.mpan.utf8)) == nil, "\(file) contains an account number")
        }
    }
}
