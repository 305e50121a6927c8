public import FoundationEssentials

/// One fault of the certificates that the app sent, or of the trusted roots.
///
/// A position is the number of the certificate in the given order, starting at 1.
public enum CertificateFinding: ProvisioningFinding {
    // MARK: Reading the certificates

    /// The app must send two certificates, the leaf and the sub-CA, but sent this number.
    case wrongCertificateCount(Int)
    /// Both certificates are the same.
    case sameCertificateTwice
    /// The text is not Base64 (RFC 4648 section 4).
    case invalidBase64(position: Int)
    /// The text is Base64 of Base64.
    case base64Twice(position: Int)
    /// The bytes are Base64 text, expected DER.
    case base64InsteadOfDER(position: Int)
    /// The certificate is in PEM, expected DER.
    case pemInsteadOfDER(position: Int)
    /// The bytes are not exactly one X.509 certificate in DER.
    case malformedCertificate(position: Int)
    /// The certificate contains a key, or is signed with an algorithm, that this library cannot process.
    case unsupportedAlgorithm(position: Int)

    // MARK: Trusted roots

    /// The list of trusted roots is empty.
    case noRoots
    /// A trusted root is not exactly one X.509 certificate in DER.
    case malformedRoot(position: Int)
    /// A trusted root is not the certificate of a certificate authority that signed itself and permits a sub-CA.
    case notARoot(position: Int)

    // MARK: Identity

    /// The certificate belongs to a test environment, but the environment is production.
    case testCertificate(CertificateRole, commonName: String)
    /// The sub-CA has another common name than ``ProvisioningTrust/subCACommonName``.
    case unexpectedSubCA(commonName: String)

    // MARK: Chain

    /// The leaf signed itself.
    case selfSignedLeaf
    /// The issuer in the leaf differs from the subject of the sub-CA.
    case namesDoNotChain(leafIssuer: String, subCASubject: String)
    /// No trusted root has the name of the sub-CA's issuer.
    case untrustedRoot(subCAIssuer: String)
    /// The certificate is signed with an algorithm that is not accepted, such as RSA with SHA-1.
    case weakSignatureAlgorithm(CertificateRole, algorithm: String)
    /// The signature of the certificate was not made with the issuer's key.
    case invalidSignature(CertificateRole)

    // MARK: Extensions and key

    /// The extension cannot be read.
    case malformedExtension(CertificateRole, identifier: String)
    /// The basic constraints do not say that the sub-CA is a certificate authority.
    case subCANotAuthority
    /// The basic constraints say that the leaf is a certificate authority.
    case leafIsAuthority
    /// The key usage does not permit the use of the certificate in the chain.
    case wrongKeyUsage(CertificateRole, found: String)
    /// The leaf has no extension 1.2.840.113635.100.6.39.
    case markerMissing
    /// The extension 1.2.840.113635.100.6.39 of the leaf is not critical.
    case markerNotCritical
    /// The value of extension 1.2.840.113635.100.6.39 of the leaf is not NULL.
    case markerNotNull
    /// The certificate has a critical extension that the library does not check (RFC 5280 section 4.2).
    case unknownCriticalExtension(CertificateRole, identifier: String)
    /// The public key of the leaf is not on the curve P-256.
    case wrongLeafKey(found: String)

    // MARK: Validity period

    /// The validity period has not begun.
    case notYetValid(CertificateRole, from: Date)
    /// The validity period has ended.
    case expired(CertificateRole, since: Date)
}
