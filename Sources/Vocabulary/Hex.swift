/// Hexadecimal digits (base 16), RFC 4648 section 8.
package enum Hex {
    /// Writes two lower-case digits for each byte.
    package static func encode(_ bytes: some Sequence<UInt8>) -> String {
        // A list of records has hundreds of hashes, and a loop over an array is much faster than over a generic
        // sequence.
        let bytes = Array(bytes)
        return String(unsafeUninitializedCapacity: 2 * bytes.count) { digits in
            for (index, byte) in bytes.enumerated() {
                digits[2 * index] = digit(byte >> 4)
                digits[2 * index + 1] = digit(byte & 15)
            }
            return 2 * bytes.count
        }
    }

    /// Accepts digits in upper and lower case.
    ///
    /// - Returns: nil for an odd number of digits, or a character that is not a hexadecimal digit.
    package static func decode(_ text: some StringProtocol) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 2)
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = value(digits[index]), let low = value(digits[index + 1]) else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
