import Vocabulary

/// The symmetric key of an RSA_v1 token, 16 bytes, encrypted to the merchant's RSA-2048 key.
///
/// The encryption is RSA-OAEP with SHA-256 as hash, SHA-256 in MGF1, and an empty label. Java's default for MGF1 is
/// SHA-1, with which decryption fails.
public struct WrappedKey: Sendable, Hashable {
    /// The encrypted key: 256 bytes, the length of the modulus.
    public let bytes: [UInt8]

    /// The length of a wrapped key in bytes.
    static let length = 256

    /// Creates a wrapped key from the decoded `wrappedKey` of a token header.
    ///
    /// - Throws: ``PaymentTokenError`` with code `malformed` if `bytes` does not have 256 bytes.
    public init(bytes: some Collection<UInt8>) throws(PaymentTokenError) {
        guard bytes.count == Self.length else {
            throw PaymentTokenError(
                .malformed, "'wrappedKey' has \(bytes.count.counted("byte")), expected \(Self.length) (RSA-2048)")
        }
        self.bytes = Array(bytes)
    }
}
