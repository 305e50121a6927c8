public import Crypto

/// The sender's half of an EC_v1 key agreement: a point on P-256.
///
/// Holding one proves that the point lies on the curve, so that a key agreement with it gives nothing away about the
/// private key (invalid-curve attack).
public struct EphemeralPublicKey: Sendable, Hashable {
    /// DER `SubjectPublicKeyInfo` with a named curve and an uncompressed point, RFC 5480: the one spelling Apple uses.
    public let derRepresentation: [UInt8]
    /// The same point, ready for a key agreement.
    public let agreementKey: P256.KeyAgreement.PublicKey

    /// SEQUENCE { SEQUENCE { id-ecPublicKey, prime256v1 }, BIT STRING 66 bytes, none unused }: fixed for P-256.
    static let prefix: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01,
        0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
    ]
    static let length = prefix.count + 65

    /// - Throws: ``PaymentTokenError`` with code `malformed` unless this is a P-256 key and its point lies on the curve.
    public init(derRepresentation: some Collection<UInt8>) throws(PaymentTokenError) {
        let bytes = Array(derRepresentation)
        guard bytes.count == Self.length, bytes.starts(with: Self.prefix) else {
            throw PaymentTokenError(
                .malformed,
                "ephemeralPublicKey holds \(bytes.count) bytes that are not such a key, "
                    + "expected the \(Self.length) bytes of a P-256 SubjectPublicKeyInfo with an uncompressed point")
        }
        do {
            agreementKey = try P256.KeyAgreement.PublicKey(x963Representation: bytes[Self.prefix.count...])
        } catch {
            throw PaymentTokenError(.malformed, "ephemeralPublicKey is a point off the curve, expected one on P-256")
        }
        self.derRepresentation = bytes
    }

    /// Whether both are the same point: each point has one spelling.
    public static func == (left: Self, right: Self) -> Bool { left.derRepresentation == right.derRepresentation }

    /// Hashes the spelling.
    public func hash(into hasher: inout Hasher) { hasher.combine(derRepresentation) }
}
