/// An RSA_v1 symmetric key of 16 bytes, encrypted to the merchant's RSA-2048 key.
///
/// RSA-OAEP with SHA-256 both as hash and in MGF1, empty label. (Java's default for the transformation of that name is
/// MGF1 with SHA-1, which opens none of them.)
public struct WrappedKey: Sendable, Hashable {
    /// 256 bytes, as long as the modulus.
    public let bytes: [UInt8]

    static let length = 256

    /// - Throws: ``PaymentTokenError`` with code `malformed` unless 256 bytes are given.
    public init(bytes: some Collection<UInt8>) throws(PaymentTokenError) {
        guard bytes.count == Self.length else {
            throw PaymentTokenError(
                .malformed, "wrappedKey holds \(bytes.count) bytes, expected \(Self.length) (RSA-2048)")
        }
        self.bytes = Array(bytes)
    }
}
