public import Crypto
import Vocabulary

/// The sender's half of an EC_v1 key agreement: a point on P-256.
///
/// Holding one proves that the point lies on the curve, so that a key agreement with it gives nothing away about the
/// private key (invalid-curve attack).
public struct EphemeralPublicKey: Sendable, Hashable {
    /// DER `SubjectPublicKeyInfo` with a named curve and an uncompressed point, RFC 5480: the one spelling Apple uses.
    /// 91 bytes.
    public let derRepresentation: [UInt8]
    /// The same point, ready for a key agreement.
    public let agreementKey: P256.KeyAgreement.PublicKey

    /// - Parameter derRepresentation: the decoded `ephemeralPublicKey` of a token's header.
    /// - Throws: ``PaymentTokenError`` with code `malformed` unless this is a P-256 key and its point lies on the curve.
    public init(derRepresentation: some Collection<UInt8>) throws(PaymentTokenError) {
        let bytes = Array(derRepresentation)
        guard let point = P256SubjectPublicKeyInfo.point(in: bytes) else {
            throw PaymentTokenError(
                .malformed,
                "ephemeralPublicKey holds \(bytes.count) bytes that are not such a key, expected "
                    + "the \(P256SubjectPublicKeyInfo.length) bytes of a P-256 SubjectPublicKeyInfo with an uncompressed point"
            )
        }
        // swift-crypto checks the curve's equation.
        guard let key = try? P256.KeyAgreement.PublicKey(x963Representation: point) else {
            throw PaymentTokenError(.malformed, "ephemeralPublicKey is a point off the curve, expected one on P-256")
        }
        agreementKey = key
        self.derRepresentation = bytes
    }

    /// Whether both are the same point: each point has one spelling.
    public static func == (left: Self, right: Self) -> Bool { left.derRepresentation == right.derRepresentation }

    /// Hashes the spelling.
    public func hash(into hasher: inout Hasher) { hasher.combine(derRepresentation) }
}
