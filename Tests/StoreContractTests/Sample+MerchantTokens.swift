import MerchantCore
import Vocabulary

extension Sample {
    static func token(_ number: Int) -> MerchantTokenIdentifier {
        guard let identifier = MerchantTokenIdentifier(text: "token-\(number)") else {
            preconditionFailure("letters, a hyphen and digits are a valid identifier")
        }
        return identifier
    }

    static func tokenEvent(_ number: Int) -> MerchantTokenEventIdentifier {
        guard let identifier = MerchantTokenEventIdentifier(text: "event-\(number)") else {
            preconditionFailure("letters, a hyphen and digits are a valid identifier")
        }
        return identifier
    }

    static let card = MerchantTokenCard(
        cardCountry: "US", expirationDate: "12/30", fpanSuffix: "4242", longDescription: "Bank \"Visa\" – ünïcode",
        shortDescription: "Visa", cardArt: [.init(name: "logo", type: "image/png", url: "https://example.com/a.png")])

    /// A merchant token that was first seen at the second with its number.
    static func merchantToken(
        _ number: Int, of merchant: Int = 0, _ state: MerchantToken.State = .linked
    ) -> MerchantToken {
        MerchantToken(
            identifier: token(number), merchantIdentifier: identifier(merchant), state: state,
            firstSeenAt: time(number), lastSeenAt: time(number))
    }

    static func payment(_ token: Int, of merchant: Int = 0, from first: Int, to last: Int) -> MerchantTokenPayment {
        MerchantTokenPayment(
            identifier: Sample.token(token), merchantIdentifier: identifier(merchant),
            times: Occurrences(count: 2, first: time(first), last: time(last)))
    }

    static let report = MerchantTokenReport(
        merchantTokenIdentifier: token(1), eventIdentifier: tokenEvent(1), eventType: "UPDATED_METADATA",
        reason: "issuer", receivedAt: time(5), card: card, mpanIdentifier: "mpan-1")

    /// What the daemon reports of an event that it could not fetch.
    static let emptyReport = MerchantTokenReport(
        merchantTokenIdentifier: nil, eventIdentifier: tokenEvent(2), eventType: nil, reason: nil, receivedAt: time(5),
        card: nil, mpanIdentifier: nil)
}
