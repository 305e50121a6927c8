public import Crypto
import Vocabulary

/// The sender's ephemeral public key of an EC_v1 token: a point on P-256.
///
/// The initializer checks that the point is on the curve, which prevents invalid-curve attacks on the merchant's
/// private key.
public struct EphemeralPublicKey: Sendable, Hashable {
    /// The key as DER `SubjectPublicKeyInfo` with a named curve and an uncompressed point (RFC 5480), the only encoding
    /// that Apple uses: 91 bytes.
    public let derRepresentation: [UInt8]
    /// The key as swift-crypto's type for key agreement.
    public let agreementKey: P256.KeyAgreement.PublicKey

    /// Creates a key from its DER encoding.
    ///
    /// - Parameter derRepresentation: the decoded `ephemeralPublicKey` of a token header.
    /// - Throws: ``PaymentTokenError`` with code `malformed` if the bytes are not a P-256 key in the encoding of
    ///   ``derRepresentation``, or if the point is not on the curve.
    public init(derRepresentation: some Collection<UInt8>) throws(PaymentTokenError) {
        let bytes = Array(derRepresentation)
        guard let point = P256SubjectPublicKeyInfo.point(in: bytes) else {
            throw PaymentTokenError(
                .malformed,
                "'ephemeralPublicKey' (\(bytes.count.counted("byte"))) is not a P-256 SubjectPublicKeyInfo of "
                    + "\(P256SubjectPublicKeyInfo.length) bytes with an uncompressed point"
            )
        }
        // swift-crypto checks that the point satisfies the curve equation.
        guard let key = try? P256.KeyAgreement.PublicKey(x963Representation: point) else {
            throw PaymentTokenError(.malformed, "'ephemeralPublicKey' is not a point on the curve P-256")
        }
        agreementKey = key
        self.derRepresentation = bytes
    }

    /// Whether both keys are equal. Equal keys have equal encodings, because the initializer accepts only one encoding
    /// of a key.
    public static func == (left: Self, right: Self) -> Bool { left.derRepresentation == right.derRepresentation }

    /// Hashes the DER encoding.
    public func hash(into hasher: inout Hasher) { hasher.combine(derRepresentation) }
}
