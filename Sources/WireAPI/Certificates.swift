package import Vocabulary

extension Paths {
    package static let certificates = "/v1/certificates"

    package static func certificates(of merchant: MerchantIdentifier) -> String {
        "\(Self.merchant(merchant))/certificates"
    }
}

/// A stored certificate.
package struct CertificateDocument: Codable, Hashable, Sendable {
    /// The certificate's subject, issuer and serial number.
    package typealias Identification = (subject: String, issuer: String, serialNumber: String)

    /// SHA-256 of the certificate in DER, as lower-case hexadecimal.
    package let fingerprint: String
    /// Upper-case hexadecimal.
    package let serialNumber: String
    package let subject: String
    package let issuer: String
    package let notBefore: Timestamp
    package let notAfter: Timestamp
    /// Whether the daemon has verified the certificate's chain. False if the setting `trust.certificate-issuers` was
    /// not set when the certificate was last uploaded.
    package var issuerVerified = false
    package let storedAt: Timestamp
    /// The certificate in PEM.
    package let certificate: String

    package init(
        pem: String, fingerprint: String, identification: Identification, validFrom notBefore: Timestamp,
        to notAfter: Timestamp, storedAt: Timestamp
    ) {
        (certificate, self.fingerprint, self.storedAt) = (pem, fingerprint, storedAt)
        (subject, issuer, serialNumber) = identification
        (self.notBefore, self.notAfter) = (notBefore, notAfter)
    }
}
