/// A key pair as the admin's socket shows it. Never holds private key bytes.
package struct KeyDocument: Codable, Hashable, Sendable {
    /// Base64, as tokens carry it.
    package let publicKeyHash: String
    package let merchantIdentifier: String
    package let algorithm: String
    package let purpose: String
    package let state: String
    package let origin: String
    package let createdAt: String
    package let stateSince: String
    /// Of the certificate that answers; absent while there is none.
    package let notBefore: String?
    package let notAfter: String?
    package let revocationReason: String?
    package let destroyAfter: String?
    package let exportedAt: String?
    /// Absent where nothing was seen of it.
    package let use: KeyUseDocument?
    /// Every certificate stored over this key pair, newest first.
    package let certificates: [CertificateDocument]
    /// PKCS#10 in PEM; in the answer to generate and in `show`.
    package let csr: String?

    package init(
        publicKeyHash: String, merchantIdentifier: String, algorithm: String, purpose: String, state: String,
        origin: String, createdAt: String, stateSince: String, notBefore: String?, notAfter: String?,
        revocationReason: String?, destroyAfter: String?, exportedAt: String?, certificates: [CertificateDocument],
        csr: String?, use: KeyUseDocument? = nil
    ) {
        self.publicKeyHash = publicKeyHash
        self.merchantIdentifier = merchantIdentifier
        self.algorithm = algorithm
        self.purpose = purpose
        self.state = state
        self.origin = origin
        self.createdAt = createdAt
        self.stateSince = stateSince
        self.notBefore = notBefore
        self.notAfter = notAfter
        self.revocationReason = revocationReason
        self.destroyAfter = destroyAfter
        self.exportedAt = exportedAt
        self.certificates = certificates
        self.csr = csr
        self.use = use
    }
}

/// A stored certificate.
package struct CertificateDocument: Codable, Hashable, Sendable {
    /// SHA-256 over the DER, lower-case hexadecimal.
    package let fingerprint: String
    package let serialNumber: String
    package let subject: String
    package let issuer: String
    package let notBefore: String
    package let notAfter: String
    /// false where no issuing CA is configured: the signature was not checked.
    package let issuerVerified: Bool
    package let storedAt: String
    /// PEM.
    package let certificate: String

    package init(
        fingerprint: String, serialNumber: String, subject: String, issuer: String, notBefore: String,
        notAfter: String, issuerVerified: Bool, storedAt: String, certificate: String
    ) {
        self.fingerprint = fingerprint
        self.serialNumber = serialNumber
        self.subject = subject
        self.issuer = issuer
        self.notBefore = notBefore
        self.notAfter = notAfter
        self.issuerVerified = issuerVerified
        self.storedAt = storedAt
        self.certificate = certificate
    }
}

/// What a promote, revoke, restore or destroy did, or with `dryRun` would do.
package struct KeyTransitionDocument: Codable, Hashable, Sendable {
    package struct Transition: Codable, Hashable, Sendable {
        package let publicKeyHash: String
        package let from: String
        package let to: String

        package init(publicKeyHash: String, from: String, to: String) {
            self.publicKeyHash = publicKeyHash
            self.from = from
            self.to = to
        }
    }

    package let dryRun: Bool
    /// Empty where everything is already as asked.
    package let transitions: [Transition]
    /// What a person should be asked or told about it.
    package let warnings: [String]
    /// The key pair afterwards.
    package let key: KeyDocument

    package init(dryRun: Bool, transitions: [Transition], warnings: [String], key: KeyDocument) {
        self.dryRun = dryRun
        self.transitions = transitions
        self.warnings = warnings
        self.key = key
    }
}
