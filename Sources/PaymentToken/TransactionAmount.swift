/// An amount in the currency's minor unit, exactly as sent. The amount is never converted to a floating-point number.
///
/// In real tokens the amount is a JSON number. In authentication responses and in the sample of Apple's integration
/// guide it is a JSON string.
public struct TransactionAmount: Sendable, Hashable {
    /// The amount as sent, without quotes.
    public let text: String
    /// Whether the amount was sent as a JSON string, not as a JSON number.
    public let isString: Bool

    /// Creates an amount from its text in the JSON.
    public init(text: String, isString: Bool) {
        self.text = text
        self.isString = isString
    }

    /// The amount as an integer; nil unless the text consists of 1 to 18 decimal digits.
    public var minorUnits: Int64? {
        guard (1...18).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int64(text)
    }
}
