package import Vocabulary

/// Apple's name of one payment: 32 bytes, spelled as 64 hexadecimal digits in either case.
///
/// Source: Apple, "Payment token format reference", header key `transactionId`.
public struct TransactionId: Hashable, Sendable, CustomStringConvertible {
    package let words: Words256

    /// - Returns: nil unless the text is 64 hexadecimal digits.
    public init?(hex text: String) {
        guard text.utf8.count == 64, let bytes = Hex.decode(text), let words = Words256(bytes: bytes) else {
            return nil
        }
        self.words = words
    }

    /// The 32 bytes, as the signature covers them.
    public var bytes: [UInt8] { words.bytes }

    /// 64 lower-case hexadecimal digits, whatever case was read.
    public var hex: String { Hex.encode(words.bytes) }

    /// The same as ``hex``.
    public var description: String { hex }
}
