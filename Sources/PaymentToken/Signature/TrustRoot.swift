import Crypto
import FoundationEssentials
import Vocabulary

/// A self-signed certificate that token signatures may chain to.
public struct TrustRoot: Sendable, Hashable {
    /// DER.
    public let derRepresentation: [UInt8]

    /// - Throws: ``PaymentTokenError`` with code `invalidTrustRoot` unless this is exactly one certificate of a
    ///   self-signed authority.
    public init(derRepresentation: some Collection<UInt8>) throws(PaymentTokenError) {
        let bytes = Array(derRepresentation)
        guard let certificate = X509Certificate(derRepresentation: bytes) else {
            throw PaymentTokenError(.invalidTrustRoot, "found \(bytes.count) bytes that are not one DER certificate")
        }
        guard certificate.isSelfIssued, certificate.isAuthority else {
            let name = certificate.subjectCommonNames.first ?? "without a common name"
            throw PaymentTokenError(
                .invalidTrustRoot, "found the certificate '\(name)', expected one of a self-signed authority")
        }
        self.derRepresentation = bytes
    }

    /// Reads every `CERTIFICATE` block of a PEM text, RFC 7468; text around the blocks is skipped.
    ///
    /// - Throws: ``PaymentTokenError`` with code `invalidTrustRoot` unless there is at least one and each is a root.
    public static func reading(pem: String) throws(PaymentTokenError) -> [TrustRoot] {
        var roots: [TrustRoot] = []
        var block: String?
        for line in pem.split(whereSeparator: \.isNewline) {
            switch line.drop(while: \.isWhitespace).prefix(while: { $0 != "\r" }) {
            case "-----BEGIN CERTIFICATE-----": block = ""
            case "-----END CERTIFICATE-----":
                guard let text = block, let der = Base64.decode(text) else {
                    throw PaymentTokenError(.invalidTrustRoot, "found a PEM block that is not Base64")
                }
                roots.append(try TrustRoot(derRepresentation: der))
                block = nil
            case let line: if block != nil { block?.append(contentsOf: line.filter { !$0.isWhitespace }) }
            }
        }
        guard !roots.isEmpty, block == nil else {
            throw PaymentTokenError(
                .invalidTrustRoot, "found no complete 'BEGIN CERTIFICATE' block, expected at least one")
        }
        return roots
    }

    /// SHA-256 of the DER, 64 lower-case hexadecimal digits.
    public var sha256Fingerprint: String { Hex.encode(SHA256.hash(data: derRepresentation)) }
}
