package import Vocabulary

extension Paths {
    package static let certificates = "/v1/certificates"

    package static func certificates(of merchant: MerchantIdentifier) -> String {
        "\(Self.merchant(merchant))/certificates"
    }
}

/// A stored certificate.
package struct CertificateDocument: Codable, Hashable, Sendable {
    /// The subject, issuer and serial number of a certificate.
    package typealias Names = (subject: String, issuer: String, serialNumber: String)

    /// SHA-256 of the DER, lower-case hexadecimal.
    package let fingerprint: String
    package let serialNumber: String
    package let subject: String
    package let issuer: String
    package let notBefore: Timestamp
    package let notAfter: Timestamp
    /// Whether the issuer was verified. false if no issuing CA is configured.
    package var issuerVerified = false
    package let storedAt: Timestamp
    /// The certificate in PEM.
    package let certificate: String

    package init(
        pem: String, fingerprint: String, names: Names, validFrom notBefore: Timestamp, to notAfter: Timestamp,
        storedAt: Timestamp
    ) {
        (certificate, self.fingerprint, self.storedAt) = (pem, fingerprint, storedAt)
        (subject, issuer, serialNumber) = names
        (self.notBefore, self.notAfter) = (notBefore, notAfter)
    }
}
