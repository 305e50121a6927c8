import PassProvisioning

/// The checks of the certificates for card data encryption, in the order of the output.
enum CertificateCheck: String, CaseIterable {
    /// The form of the two certificates: DER, encoded once.
    case format
    /// The environment that the names show, and the name of the sub-CA.
    case identity
    /// The sub-CA signed the leaf.
    case leafSignature
    /// A trusted root signed the sub-CA.
    case subCASignature
    /// The basic constraints: the sub-CA is a certificate authority, the leaf is not.
    case basicConstraints
    case keyUsage
    /// The extension 1.2.840.113635.100.6.39 of the leaf, which must be critical.
    case marker
    /// Apart from the marker, the certificates have no critical extension that this program does not know.
    case criticalExtensions
    /// The public key of the leaf is on the curve P-256.
    case leafKey
    case validityPeriods

    /// The check to which a fault belongs.
    init(of finding: CertificateFinding) {
        self =
            switch finding {
            case .wrongCertificateCount, .sameCertificateTwice, .invalidBase64, .base64Twice, .base64InsteadOfDER,
                .pemInsteadOfDER, .malformedCertificate, .unsupportedAlgorithm:
                .format
            case .testCertificate, .unexpectedSubCA: .identity
            case .selfSignedLeaf, .namesDoNotChain, .weakSignatureAlgorithm(.leaf, _), .invalidSignature(.leaf):
                .leafSignature
            case .noRoots, .malformedRoot, .notARoot, .untrustedRoot, .weakSignatureAlgorithm, .invalidSignature:
                .subCASignature
            // Basic constraints, RFC 5280 section 4.2.1.9.
            case .malformedExtension(_, "2.5.29.19"), .subCANotAuthority, .leafIsAuthority: .basicConstraints
            case .malformedExtension, .wrongKeyUsage: .keyUsage
            case .markerMissing, .markerNotCritical, .markerNotNull: .marker
            case .unknownCriticalExtension: .criticalExtensions
            case .wrongLeafKey: .leafKey
            case .notYetValid, .expired: .validityPeriods
            }
    }
}
