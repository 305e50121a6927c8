import FoundationEssentials

/// A SHA-256 value. Each kind of digest has its own type, so that one kind cannot be passed for another.
package protocol Digest256: Hashable, Sendable, CustomStringConvertible {
    var words: Words256 { get }
    init(words: Words256)
}

/// 32 bytes in four integers. An array would allocate memory for each digest that is used as a dictionary key.
package struct Words256: Hashable, Sendable {
    var a, b, c, d: UInt64

    /// - Returns: nil unless exactly 32 bytes are given.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 32 else { return nil }
        var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        var index = 0
        for byte in bytes {
            switch index >> 3 {
            case 0: words.0 = words.0 << 8 | UInt64(byte)
            case 1: words.1 = words.1 << 8 | UInt64(byte)
            case 2: words.2 = words.2 << 8 | UInt64(byte)
            default: words.3 = words.3 << 8 | UInt64(byte)
            }
            index += 1
        }
        (a, b, c, d) = words
    }

    /// Reads contiguous bytes. Not generic, so that one compiled version serves all modules: every request uses it.
    ///
    /// - Returns: nil unless exactly 32 bytes are given.
    package init?(bytes: Span<UInt8>) {
        guard bytes.count == 32 else { return nil }
        func word(_ begin: Int) -> UInt64 {
            var word: UInt64 = 0
            for index in begin..<begin + 8 { word = word << 8 | UInt64(bytes[index]) }
            return word
        }
        (a, b, c, d) = (word(0), word(8), word(16), word(24))
    }

    package var bytes: [UInt8] {
        withUnsafeBytes(of: (a.bigEndian, b.bigEndian, c.bigEndian, d.bigEndian)) { Array($0) }
    }
}

extension Digest256 {
    /// - Returns: nil unless exactly 32 bytes are given.
    package init?(bytes: some Collection<UInt8>) {
        guard let words = Words256(bytes: bytes) else { return nil }
        self.init(words: words)
    }

    package var bytes: [UInt8] { words.bytes }

    /// 64 lower-case hexadecimal digits.
    package var hex: String { Hex.encode(bytes) }

    /// Base64 as in payment tokens: 44 characters, standard alphabet, padded.
    package var base64: String { Data(bytes).base64EncodedString() }

    /// Base64url as in paths: 43 characters, no padding.
    package var base64URL: String {
        Base64.urlAlphabet(base64.dropLast())
    }
}
