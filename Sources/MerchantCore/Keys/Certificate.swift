package import Vocabulary

/// The content of a certificate, parsed from its DER and not validated yet.
package struct CertificateFacts: Hashable, Sendable {
    package let der: [UInt8]
    /// SHA-256 over the DER.
    package let fingerprint: [UInt8]
    /// The hash of the public key in the certificate.
    package let publicKeyHash: PublicKeyHash
    /// "P-256", "RSA-2048", "RSA-1024", "P-384" and so on, for error messages.
    package let keyTypeName: String
    /// The value of extension 1.2.840.113635.100.6.32; nil if the extension is absent or not 64 hexadecimal digits.
    package let merchantIdentifierHash: MerchantIdentifierHash?
    package let hasKeyEncipherment: Bool
    package let hasDigitalSignature: Bool
    /// The object identifiers in the extended key usage; nil if the extension is absent.
    package let extendedKeyUsages: [String]?
    package let isCertificateAuthority: Bool
    package let notBefore: Timestamp
    package let notAfter: Timestamp
    /// Upper-case hexadecimal.
    package let serialNumber: String
    package let subject: String
    package let issuer: String

    package init(
        der: [UInt8], fingerprint: [UInt8], publicKeyHash: PublicKeyHash, keyTypeName: String,
        merchantIdentifierHash: MerchantIdentifierHash?, hasKeyEncipherment: Bool, hasDigitalSignature: Bool,
        extendedKeyUsages: [String]?, isCertificateAuthority: Bool, notBefore: Timestamp, notAfter: Timestamp,
        serialNumber: String, subject: String, issuer: String
    ) {
        self.der = der
        self.fingerprint = fingerprint
        self.publicKeyHash = publicKeyHash
        self.keyTypeName = keyTypeName
        self.merchantIdentifierHash = merchantIdentifierHash
        self.hasKeyEncipherment = hasKeyEncipherment
        self.hasDigitalSignature = hasDigitalSignature
        self.extendedKeyUsages = extendedKeyUsages
        self.isCertificateAuthority = isCertificateAuthority
        self.notBefore = notBefore
        self.notAfter = notAfter
        self.serialNumber = serialNumber
        self.subject = subject
        self.issuer = issuer
    }
}

/// The result of verifying that a trusted CA issued a certificate.
package enum IssuerFinding: Hashable, Sendable {
    /// No issuing CA is configured (`trust.certificate-issuers`). The certificate is stored as not verified.
    case notConfigured
    case verified
    /// The certificate does not chain to a trusted root, for this reason.
    case untrusted(String)
}

/// A certificate as stored with its key pair.
package struct StoredCertificate: Hashable, Sendable {
    package let der: [UInt8]
    package let fingerprint: [UInt8]
    package let serialNumber: String
    package let subject: String
    package let issuer: String
    package let notBefore: Timestamp
    package let notAfter: Timestamp
    /// Whether the daemon has verified that the certificate chains to a trusted CA. The daemon cannot
    /// verify this while no issuing CA is configured.
    package let issuerVerified: Bool
    package let storedAt: Timestamp

    package init(
        der: [UInt8], fingerprint: [UInt8], serialNumber: String, subject: String, issuer: String,
        notBefore: Timestamp, notAfter: Timestamp, issuerVerified: Bool, storedAt: Timestamp
    ) {
        self.der = der
        self.fingerprint = fingerprint
        self.serialNumber = serialNumber
        self.subject = subject
        self.issuer = issuer
        self.notBefore = notBefore
        self.notAfter = notAfter
        self.issuerVerified = issuerVerified
        self.storedAt = storedAt
    }

    /// The same certificate, after its issuer was verified.
    package var verified: StoredCertificate {
        StoredCertificate(
            der: der, fingerprint: fingerprint, serialNumber: serialNumber, subject: subject, issuer: issuer,
            notBefore: notBefore, notAfter: notAfter, issuerVerified: true, storedAt: storedAt)
    }

    package init(_ facts: CertificateFacts, issuerVerified: Bool, storedAt: Timestamp) {
        self.init(
            der: facts.der, fingerprint: facts.fingerprint, serialNumber: facts.serialNumber, subject: facts.subject,
            issuer: facts.issuer, notBefore: facts.notBefore, notAfter: facts.notAfter,
            issuerVerified: issuerVerified, storedAt: storedAt)
    }

    package func isValid(at time: Timestamp) -> Bool { notBefore <= time && time <= notAfter }
}

extension Collection where Element == StoredCertificate {
    /// Of all certificates of one key pair, the certificate in use: the newest valid certificate, or, if no certificate
    /// is valid, the certificate that expires last.
    package func certificateInUse(at time: Timestamp) -> StoredCertificate? {
        filter { $0.isValid(at: time) }.max { ($0.notBefore, $0.storedAt) < ($1.notBefore, $1.storedAt) }
            ?? self.max { ($0.notAfter, $0.storedAt) < ($1.notAfter, $1.storedAt) }
    }
}
