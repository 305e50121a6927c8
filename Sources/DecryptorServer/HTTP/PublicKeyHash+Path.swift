package import Vocabulary

extension PublicKeyHash {
    /// Reads the spelling of our paths, Base64url without padding, without allocating: every request passes here.
    ///
    /// - Returns: nil for anything but 43 characters with no bits left over; the other spellings are read elsewhere.
    package init?(base64URL text: Substring.UTF8View) {
        guard text.count == 43 else { return nil }
        let hash: PublicKeyHash? = withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 33) {
            bytes -> PublicKeyHash? in
            var pending: UInt32 = 0
            var count = 0
            var written = 0
            for character in text {
                guard let value = Self.value(of: character) else { return nil }
                pending = pending << 6 | value
                count += 1
                guard count.isMultiple(of: 4) else { continue }
                bytes[written] = UInt8(truncatingIfNeeded: pending >> 16)
                bytes[written + 1] = UInt8(truncatingIfNeeded: pending >> 8)
                bytes[written + 2] = UInt8(truncatingIfNeeded: pending)
                written += 3
            }
            // The last 3 characters hold 18 bits: 2 bytes, and 2 bits that must be zero for the spelling to be the one.
            guard pending & 3 == 0 else { return nil }
            bytes[30] = UInt8(truncatingIfNeeded: pending >> 10)
            bytes[31] = UInt8(truncatingIfNeeded: pending >> 2)
            return PublicKeyHash(bytes: UnsafeBufferPointer(rebasing: bytes[..<32]))
        }
        guard let hash else { return nil }
        self = hash
    }

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
