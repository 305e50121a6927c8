import FoundationEssentials

/// A SHA-256 value. Each kind of digest has its own type, so that a function cannot be called with a digest of another
/// kind.
package protocol Digest256: Hashable, Sendable, CustomStringConvertible {
    var bits: Bits256 { get }
    init(bits: Bits256)
}

/// The 32 bytes of a digest, as four big-endian integers. Not an array, because an array would allocate memory for each
/// digest.
package struct Bits256: Hashable, Sendable {
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

    /// Reads contiguous bytes. This initializer is not generic, because every request uses it, and generic code is
    /// slower when other modules call it.
    ///
    /// - Returns: nil unless exactly 32 bytes are given.
    package init?(bytes: Span<UInt8>) {
        guard bytes.count == 32 else { return nil }
        func word(from begin: Int) -> UInt64 {
            var word: UInt64 = 0
            for index in begin..<begin + 8 { word = word << 8 | UInt64(bytes[index]) }
            return word
        }
        (a, b, c, d) = (word(from: 0), word(from: 8), word(from: 16), word(from: 24))
    }

    package var bytes: [UInt8] {
        withUnsafeBytes(of: (a.bigEndian, b.bigEndian, c.bigEndian, d.bigEndian)) { Array($0) }
    }
}

extension Digest256 {
    /// - Returns: nil unless exactly 32 bytes are given.
    package init?(bytes: some Collection<UInt8>) {
        guard let bits = Bits256(bytes: bytes) else { return nil }
        self.init(bits: bits)
    }

    package var bytes: [UInt8] { bits.bytes }

    /// 64 lower-case hexadecimal digits.
    package var hex: String { Hex.encode(bytes) }

    /// Base64 as in payment tokens: 44 characters, standard alphabet, padded.
    package var base64: String { Data(bytes).base64EncodedString() }

    /// Base64url as in the paths of URLs: 43 characters, no padding.
    package var base64URL: String {
        Base64.urlAlphabet(base64.dropLast())
    }
}
