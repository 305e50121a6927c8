/// Detects bytes that a program decoded as Latin-1 or UTF-8 text and then encoded as UTF-8, which damages binary data.
///
/// Random bytes are almost never valid UTF-8: for 64 bytes, the probability is below 2^-40. So if many bytes are valid
/// UTF-8 with characters outside ASCII, they were almost certainly text at some point.
struct TextDecoding: Sendable, Hashable {
    /// The original bytes, if the program decoded them as Latin-1 (ISO 8859-1). Otherwise nil: the original bytes are
    /// lost, usually because the program replaced bytes with U+FFFD.
    let original: [UInt8]?

    /// - Returns: nil if the bytes are not UTF-8, or are only ASCII.
    init?(_ bytes: [UInt8]) {
        guard bytes.contains(where: { $0 >= 0x80 }), let text = String(validating: bytes, as: UTF8.self) else {
            return nil
        }
        let isLatin1 = text.unicodeScalars.allSatisfy { $0.value <= 0xFF }
        original = isLatin1 ? text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) } : nil
    }
}
