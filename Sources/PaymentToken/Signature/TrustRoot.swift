import Crypto
import FoundationEssentials
import Vocabulary

/// A root certificate in which the certificate chains of token signatures may end.
public struct TrustRoot: Sendable, Hashable {
    /// The certificate in DER.
    public let derRepresentation: [UInt8]

    /// Creates a trust root from a certificate in DER.
    ///
    /// - Throws: ``PaymentTokenError`` with code `invalidTrustRoot` if the bytes are not exactly one certificate, or if
    ///   the certificate is not a certificate authority whose subject and issuer are equal.
    public init(derRepresentation: some Collection<UInt8>) throws(PaymentTokenError) {
        let bytes = Array(derRepresentation)
        guard let certificate = X509Certificate(derRepresentation: bytes) else {
            throw PaymentTokenError(
                .invalidTrustRoot, "the \(bytes.count.counted("byte is", "bytes are")) not exactly one DER certificate")
        }
        guard certificate.isSelfIssued, certificate.isCertificateAuthority else {
            let name = certificate.subjectCommonNames.first ?? "(without a common name)"
            throw PaymentTokenError(
                .invalidTrustRoot,
                "the certificate '\(name)' is not a root: it is no certificate authority, or subject and issuer differ")
        }
        self.derRepresentation = bytes
    }

    /// Returns the certificates of all `CERTIFICATE` blocks in a PEM text (RFC 7468). Text around the blocks is
    /// ignored.
    ///
    /// - Throws: ``PaymentTokenError`` with code `invalidTrustRoot` if there is no block, or if a block is incomplete
    ///   or not a root certificate.
    public static func reading(pem: String) throws(PaymentTokenError) -> [TrustRoot] {
        var roots: [TrustRoot] = []
        var block: String?
        for line in pem.split(whereSeparator: \.isNewline) {
            switch line.drop(while: \.isWhitespace).prefix(while: { $0 != "\r" }) {
            case "-----BEGIN CERTIFICATE-----": block = ""
            case "-----END CERTIFICATE-----":
                guard let text = block, let der = Base64.decode(text) else {
                    throw PaymentTokenError(
                        .invalidTrustRoot,
                        "a 'BEGIN CERTIFICATE' block is not Base64, or an 'END CERTIFICATE' line has no "
                            + "'BEGIN CERTIFICATE' line before it")
                }
                roots.append(try TrustRoot(derRepresentation: der))
                block = nil
            case let line: if block != nil { block?.append(contentsOf: line.filter { !$0.isWhitespace }) }
            }
        }
        guard !roots.isEmpty, block == nil else {
            throw PaymentTokenError(
                .invalidTrustRoot,
                "the PEM text has no 'BEGIN CERTIFICATE' block, or the last block has no 'END CERTIFICATE' line")
        }
        return roots
    }

    /// The SHA-256 hash of the DER encoding: 64 lower-case hexadecimal digits.
    public var sha256Fingerprint: String { Hex.encode(SHA256.hash(data: derRepresentation)) }
}
