/// The ranges of card numbers of Visa, Mastercard, American Express and Discover. Some domestic networks, such as Elo
/// and RuPay, issue numbers in the ranges of others. So a number in the range of another network is only a warning.
///
/// Source: the first digits that the networks publish for their own cards (ISO/IEC 7812-1 calls them the issuer
/// identification number).
enum CardNumberRange {
    private static let ranges: [(ClosedRange<Int>, ProvisioningNetwork)] = [
        (4...4, .visa), (51...55, .mastercard), (2221...2720, .mastercard), (34...34, .americanExpress),
        (37...37, .americanExpress), (6011...6011, .discover), (644...649, .discover), (65...65, .discover),
    ]

    /// The network whose range contains a card number, or its first six digits; nil if no range contains it.
    ///
    /// - Parameter text: digits only.
    static func network(of text: String) -> ProvisioningNetwork? {
        ranges.first { range, _ in
            let length = "\(range.lowerBound)".count
            guard text.utf8.count >= length, let beginning = Int(text.prefix(length)) else { return false }
            return range.contains(beginning)
        }?.1
    }

    /// - Parameters:
    ///   - text: a card number, or its first six digits: digits only.
    ///   - network: the network of the card; nil if it is not known.
    /// - Returns: a warning if the digits belong to a network of another company. A card can belong to two networks, so
    ///   this is not a fault.
    static func findings(_ text: String, key: String, network: ProvisioningNetwork?) -> [CardDataFinding] {
        guard let network, let owner = Self.network(of: text), owner.company != network.company else { return [] }
        return [
            CardDataFinding(
                .cardNumberOtherNetwork, key: key,
                "'\(key)' begins like the card numbers of \(owner.rawValue), but the card is a card of \(network.rawValue)"
            )
        ]
    }
}
