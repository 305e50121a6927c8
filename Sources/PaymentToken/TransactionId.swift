package import Vocabulary

/// Apple's identifier of a payment: 32 bytes, written as 64 hexadecimal digits in upper or lower case.
///
/// Source: Apple, "Payment token format reference", header key `transactionId`.
public struct TransactionId: Hashable, Sendable, CustomStringConvertible {
    package let bits: Bits256

    /// Creates an identifier from its hexadecimal form.
    ///
    /// - Returns: nil if the text is not 64 hexadecimal digits.
    public init?(hex text: String) {
        guard text.utf8.count == 64, let bytes = Hex.decode(text), let bits = Bits256(bytes: bytes) else {
            return nil
        }
        self.bits = bits
    }

    /// The 32 bytes that the signature covers.
    public var bytes: [UInt8] { bits.bytes }

    /// The identifier as 64 lower-case hexadecimal digits.
    public var hex: String { Hex.encode(bits.bytes) }

    /// The same as ``hex``.
    public var description: String { hex }
}
