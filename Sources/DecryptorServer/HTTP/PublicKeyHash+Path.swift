package import Vocabulary

extension PublicKeyHash {
    /// Reads a publicKeyHash in its canonical spelling: Base64url without padding, 43 characters. The initializer
    /// allocates no memory, because it is called for every request that has a key in its path.
    ///
    /// - Returns: nil if the text is not in the canonical spelling. ``init(anySpelling:)`` reads the other spellings.
    package init?(base64URL text: Span<UInt8>) {
        guard text.count == 43 else { return nil }
        var bytes = InlineArray<33, UInt8>(repeating: 0)
        var pending: UInt32 = 0
        for index in text.indices {
            guard let value = Self.value(of: text[index]) else { return nil }
            pending = pending << 6 | value
            guard index % 4 == 3 else { continue }
            let begin = index / 4 * 3
            bytes[begin] = UInt8(truncatingIfNeeded: pending >> 16)
            bytes[begin + 1] = UInt8(truncatingIfNeeded: pending >> 8)
            bytes[begin + 2] = UInt8(truncatingIfNeeded: pending)
        }
        // The last 3 of the 43 characters hold 18 bits: 2 bytes, and 2 extra bits that are zero in the canonical
        // spelling.
        guard pending & 3 == 0 else { return nil }
        bytes[30] = UInt8(truncatingIfNeeded: pending >> 10)
        bytes[31] = UInt8(truncatingIfNeeded: pending >> 2)
        guard let bits = Bits256(bytes: bytes.span.extracting(first: 32)) else { return nil }
        self.init(bits: bits)
    }

    /// The six bits of a Base64url character; nil for any other character.
    private static func value(of character: UInt8) -> UInt32? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
