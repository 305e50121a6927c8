/// Converts a prefix of a publicKeyHash to ranges of hashes, so that a query can find the hashes with this prefix. The
/// prefix is in hexadecimal, Base64 or Base64url.
package enum PublicKeyHashPrefix {
    /// The hashes from `lowest` to `highest`, both included.
    package struct Range: Hashable, Sendable {
        package let lowest: PublicKeyHash
        package let highest: PublicKeyHash
    }

    /// - Parameter text: the prefix of a hash, which has 64 hexadecimal digits in upper or lower case, 44 characters of
    ///   Base64, or 43 characters of Base64url.
    /// - Returns: one range if a hexadecimal text can begin with `text`, and one range if a text of Base64 or Base64url
    ///   can. For example, `a1` has both ranges. Empty for an invalid text.
    package static func ranges(of text: String) -> [Range] {
        var found: [Range] = []
        for range in [hexadecimal(text), base64(text)] {
            if let range, !found.contains(range) { found.append(range) }
        }
        return found
    }

    private static func hexadecimal(_ text: String) -> Range? {
        let digits = text.utf8.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
        guard digits.count == text.utf8.count else { return nil }
        return range(digits, bitsPerDigit: 4)
    }

    private static func base64(_ text: String) -> Range? {
        var letters = text.utf8[...]
        if letters.count == 44, letters.last == UInt8(ascii: "=") { letters.removeLast() }
        let isStandard = letters.contains { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "/") }
        let isURL = letters.contains { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
        let digits = letters.compactMap(base64Value)
        guard digits.count == letters.count, !(isStandard && isURL) else { return nil }
        return range(digits, bitsPerDigit: 6)
    }

    /// The value of a character in Base64 or Base64url (RFC 4648, tables 1 and 2); nil for other characters.
    private static func base64Value(_ letter: UInt8) -> Int? {
        switch letter {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): Int(letter - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): Int(letter - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(letter - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
        case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
        default: nil
        }
    }

    /// The hashes that begin with the bits of these digits.
    ///
    /// - Returns: nil if there are no digits or more than the 256 bits of a hash. 43 digits of Base64 have 258 bits:
    ///   the last two are padding, and must be zero.
    private static func range(_ digits: [Int], bitsPerDigit: Int) -> Range? {
        guard !digits.isEmpty, (digits.count - 1) * bitsPerDigit < 256 else { return nil }
        var lowest = [UInt8](repeating: 0x00, count: 32)
        var highest = [UInt8](repeating: 0xFF, count: 32)
        // Bits that are not given stay 0 in `lowest` and 1 in `highest`.
        for position in 0..<digits.count * bitsPerDigit {
            let isSet = digits[position / bitsPerDigit] >> (bitsPerDigit - 1 - position % bitsPerDigit) & 1 == 1
            if position >= 256 {
                if isSet { return nil }
            } else if isSet {
                lowest[position / 8] |= 0x80 >> UInt8(position % 8)
            } else {
                highest[position / 8] &= ~(0x80 >> UInt8(position % 8))
            }
        }
        guard let lowest = PublicKeyHash(bytes: lowest), let highest = PublicKeyHash(bytes: highest) else { return nil }
        return Range(lowest: lowest, highest: highest)
    }
}
