import Vocabulary

/// Checks of a card number (primary account number). They read the digits in place and make no copies.
enum CardNumberCheck {
    /// The lengths that are permitted if the network is unknown. Source: ISO/IEC 7812-1 for the upper limit.
    static let lengthsOfAllNetworks = Array(12...19)

    /// - Returns: at most one finding, because a later check is meaningless for a number that fails an earlier check.
    static func findings(_ text: String, key: String, network: ProvisioningNetwork?) -> [CardDataFinding] {
        let digits = text.utf8
        guard digits.allSatisfy(isDigit) else { return [notDigits(text, key)] }
        let lengths = network?.cardNumberLengths ?? lengthsOfAllNetworks
        guard lengths.contains(digits.count) else {
            let owner = network.map { "cards of \($0.rawValue)" } ?? "card numbers"
            return [
                CardDataFinding(
                    .cardNumberLength, key: key,
                    "'\(key)' has \(digits.count.counted("digit")), but \(owner) have "
                        + lengths.map { "\($0)" }.joined(separator: ", "))
            ]
        }
        guard hasValidCheckDigit(digits) else {
            return [
                CardDataFinding(
                    .cardNumberCheckDigit, key: key,
                    "the last digit of '\(key)' is not the check digit of the other \(digits.count - 1) digits")
            ]
        }
        return CardNumberRange.findings(text, key: key, network: network)
    }

    static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    private static func notDigits(_ text: String, _ key: String) -> CardDataFinding {
        let isDigitsWithSeparators =
            text.unicodeScalars.contains { isDigitScalar($0) }
            && text.unicodeScalars.allSatisfy { isDigitScalar($0) || $0 == " " || $0 == "-" || $0 == "\u{A0}" }
        if isDigitsWithSeparators {
            return CardDataFinding(.cardNumberSeparators, key: key, "'\(key)' contains blanks or hyphens")
        }
        return CardDataFinding(
            .cardNumberNotDigits, key: key,
            "'\(key)' (\(text.count.counted("character"))) contains characters other than digits")
    }

    private static func isDigitScalar(_ scalar: Unicode.Scalar) -> Bool { ("0"..."9").contains(scalar) }

    /// The Luhn algorithm. Source: ISO/IEC 7812-1 annex B.
    private static func hasValidCheckDigit(_ digits: String.UTF8View) -> Bool {
        var sum = 0
        for (position, byte) in digits.reversed().enumerated() {
            let digit = Int(byte) - 0x30
            let doubled = position.isMultiple(of: 2) ? digit : digit * 2
            sum += doubled > 9 ? doubled - 9 : doubled
        }
        return sum.isMultiple(of: 10)
    }
}
