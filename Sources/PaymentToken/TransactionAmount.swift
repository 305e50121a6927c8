/// An amount in the currency's minor unit, exactly as it was sent: it never passes through a floating-point number.
///
/// Real tokens send a number; the integration guide's sample and authentication responses send a string.
public struct TransactionAmount: Sendable, Hashable {
    /// The digits as sent.
    public let text: String
    /// Whether it was sent in quotes.
    public let isString: Bool

    /// An amount as sent.
    public init(text: String, isString: Bool) {
        self.text = text
        self.isString = isString
    }

    /// The amount as an integer; nil where it has a sign, a fraction, an exponent or more than 18 digits.
    public var minorUnits: Int64? {
        guard (1...18).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int64(text)
    }
}
