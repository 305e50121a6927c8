extension SecretBytes {
    /// Decodes Base64 (RFC 4648 section 4) directly into the memory of the result, so that no other copy must be wiped.
    ///
    /// - Parameter text: Base64 with padding and without line breaks. The unused bits of the last digit must be zero.
    /// - Returns: nil if the text is empty or not in this form.
    package static func decoding(base64 text: String) -> SecretBytes? {
        let digits = text.utf8
        let padding = digits.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        guard !digits.isEmpty, digits.count % 4 == 0, padding <= 2 else { return nil }
        var isValid = true
        let bytes = SecretBytes(count: digits.count / 4 * 3 - padding) { out in
            var written = 0
            var bits: UInt32 = 0
            var bitCount = 0
            for digit in digits.dropLast(padding) {
                guard let value = value(of: digit) else {
                    isValid = false
                    return
                }
                bits = bits << 6 | UInt32(value)
                bitCount += 6
                guard bitCount >= 8 else { continue }
                bitCount -= 8
                out[written] = UInt8(truncatingIfNeeded: bits >> UInt32(bitCount))
                written += 1
            }
            // The last `bitCount` bits belong to no byte, and must be zero.
            isValid = bits & (1 << UInt32(bitCount) - 1) == 0
        }
        guard isValid else { return nil }
        return bytes
    }

    private static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): digit - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): digit - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
