import MerchantCore
import Vocabulary

/// The types of events that Apple documents.
enum MerchantTokenEventType: String, CaseIterable {
    case unlink = "UNLINK"
    case metadata = "UPDATED_METADATA"
    case cardArt = "UPDATED_CARD_ART"
    case publicKey = "UPDATED_MERCHANT_TOKEN_PUBLIC_KEY"

    /// - Returns: nil for a type that the daemon does not know.
    init?(_ appleType: String) { self.init(rawValue: appleType) }

    var kind: Event.Kind {
        switch self {
        case .unlink: .merchantTokenUnlinked
        case .metadata: .merchantTokenMetadataUpdated
        case .cardArt: .merchantTokenCardArtUpdated
        case .publicKey: .merchantTokenPublicKeyUpdated
        }
    }

    var label: MerchantTokenMetrics.EventType {
        switch self {
        case .unlink: .unlink
        case .metadata: .metadata
        case .cardArt: .cardArt
        case .publicKey: .publicKey
        }
    }

    /// What happened, as the end of a sentence about the merchant token.
    fileprivate var whatHappened: String {
        switch self {
        case .unlink:
            "was unlinked: Apple Pay refuses further payments with it, so ask the customer for another payment method"
        case .metadata: "has new data of its card"
        case .cardArt: "has new images of its card"
        case .publicKey: "has a new public key for usage information"
        }
    }
}

extension Event {
    /// The daemon's event about a merchant token event that the daemon fetched from Apple.
    init(
        _ event: MerchantTokenEvent, _ metadata: TokenMetadataDecryption.Result?, of notification: TokenNotification,
        at now: Timestamp
    ) {
        let type = MerchantTokenEventType(event.type)
        let whatHappened =
            type?.whatHappened ?? "has an event of the unknown type '\(event.type.printable(keepingLines: false))'"
        let token = "the merchant token \(event.merchantTokenIdentifier)"
        let problem = metadata?.problem
        self.init(
            type?.kind ?? .merchantTokenEvent, problem == nil ? .notice : .warning, at: now,
            merchant: notification.merchantIdentifier, key: metadata?.publicKeyHash,
            merchantToken: MerchantTokenReport(
                merchantTokenIdentifier: event.merchantTokenIdentifier, eventIdentifier: notification.eventIdentifier,
                eventType: event.type, reason: event.reason, receivedAt: notification.receivedAt,
                card: MerchantTokenCard().updated(with: event.card, metadata),
                mpanIdentifier: metadata?.mpanIdentifier),
            detail: "\(token) \(whatHappened)\(problem.map { "; \($0)" } ?? "")")
    }

    /// The daemon's event about a merchant token event that the daemon was notified of, but could not fetch from Apple.
    init(lossOf notification: TokenNotification, finding: String, at now: Timestamp) {
        self.init(
            .merchantTokenEventLost, .warning, at: now, merchant: notification.merchantIdentifier,
            merchantToken: MerchantTokenReport(
                merchantTokenIdentifier: nil, eventIdentifier: notification.eventIdentifier, eventType: nil,
                reason: nil,
                receivedAt: notification.receivedAt, card: nil, mpanIdentifier: nil),
            detail:
                "the event \(notification.eventIdentifier) of a merchant token could not be fetched for 7 days, and Apple no longer has it: a merchant token may have been unlinked without a report; the last attempt: \(finding.prefix(300).description.printable(keepingLines: false))"
        )
    }
}
