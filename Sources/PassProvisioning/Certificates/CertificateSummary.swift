public import FoundationEssentials
import Vocabulary
import X509

/// The contents of the two certificates that an app sent. They are not verified.
public struct CertificateSummary: Sendable, Hashable {
    /// The content of one certificate.
    public struct Entry: Sendable, Hashable {
        /// The subject as text (RFC 4514), at most 200 characters.
        public let subject: String
        /// The issuer as text (RFC 4514), at most 200 characters.
        public let issuer: String
        /// The serial number in lower-case hexadecimal.
        public let serialNumber: String
        /// The start of the validity period.
        public let notBefore: Date
        /// The end of the validity period.
        public let notAfter: Date

        init(_ certificate: Certificate) {
            subject = certificate.subject.text
            issuer = certificate.issuer.text
            serialNumber = Hex.encode(certificate.serialNumber.bytes)
            notBefore = certificate.notValidBefore
            notAfter = certificate.notValidAfter
        }
    }

    /// The leaf.
    public let leaf: Entry
    /// The sub-CA.
    public let subCA: Entry
    /// Whether the sub-CA was given before the leaf.
    public let isSwapped: Bool
}
