import Crypto
import CryptoExtras
package import Vocabulary
import X509

/// A CA hierarchy that stands in for Apple's certificate authorities and token signers.
///
/// ```text
/// root (P-384) ─┬─ token issuer (P-256, marker …100.6.2.14) ─┬─ EC token signer (marker …100.6.29)
///               │                                            └─ RSA token signer (marker …100.6.29)
///               ├─ processing issuer (P-256, marker …100.6.2.15) ─┬─ payment processing certificates, EC and RSA
///               │                                                 └─ card data encryption (P-256, marker …100.6.39)
///               └─ identity issuer (RSA-2048) ── merchant identity certificates
/// ```
///
/// A *marker* is an extension whose presence shows the kind of a certificate. Its object identifier is 1.2.840.113635
/// followed by the numbers in the diagram.
///
/// The sandbox is an independent implementation of Apple's formats: it shares no code with the modules that verify and
/// decrypt tokens. So if the sandbox or one of these modules has a mistake, the sandbox and the module disagree, and a
/// test fails. The exception is ``ProvisioningBroker``, which checks card data with the rules of `PassProvisioning`.
///
/// ``init(createdAt:)`` generates a hierarchy in memory, and ``AuthorityDirectory`` stores it in files.
package struct SandboxAuthority: Sendable {
    /// The CAs and token signers of the hierarchy. The raw values are the names of their files.
    ///
    /// ``AuthorityDirectory`` writes the files in this order. The root is last: if its file exists, the hierarchy is
    /// complete.
    enum Member: String, CaseIterable {
        case tokenIssuer = "token-issuer"
        case processingIssuer = "processing-issuer"
        case identityIssuer = "identity-issuer"
        case ecTokenSigner = "token-signer-ec"
        case rsaTokenSigner = "token-signer-rsa"
        case root
    }

    private let tokenIssuer, processingIssuer, identityIssuer, ecTokenSigner, rsaTokenSigner, root: CertifiedKey

    /// Generates a new hierarchy.
    ///
    /// The validity periods have Apple's lengths. They begin ten years before `now` for CAs and one year before `now`
    /// for token signers, so that tests can use certificates and tokens with times in the past.
    package init(createdAt now: Timestamp) throws {
        let decadeAgo = now.adding(.seconds(-3653 * 86_400))
        let yearAgo = now.adding(.seconds(-365 * 86_400))
        root = try CertifiedKey(
            selfSigned: .authority("Sandbox Root CA - G3 (not Apple)", marker: nil, from: decadeAgo, years: 25),
            key: .init(P384.Signing.PrivateKey()))
        tokenIssuer = try root.certifying(
            .authority(
                "Sandbox Application Integration CA - G3", marker: AppleExtension.tokenIssuer, from: decadeAgo,
                years: 15), key: .init(P256.Signing.PrivateKey()))
        processingIssuer = try root.certifying(
            .authority(
                "Sandbox Worldwide Developer Relations CA - G2", marker: AppleExtension.processingIssuer,
                from: decadeAgo, years: 15), key: .init(P256.Signing.PrivateKey()))
        identityIssuer = try root.certifying(
            .authority("Sandbox Worldwide Developer Relations CA - RSA", marker: nil, from: decadeAgo, years: 15),
            key: .init(_RSA.Signing.PrivateKey(keySize: .bits2048)))
        // Like Apple's token issuer, this one has an EC key, and also issues the certificate of the RSA token signer.
        ecTokenSigner = try tokenIssuer.certifying(
            .tokenSigner("ecc-smp-broker-sign_UC4-SANDBOX", from: yearAgo, years: 5),
            key: .init(P256.Signing.PrivateKey()))
        rsaTokenSigner = try tokenIssuer.certifying(
            .tokenSigner("rsa-smp-broker-sign_UC4-SANDBOX", from: yearAgo, years: 5),
            key: .init(_RSA.Signing.PrivateKey(keySize: .bits2048)))
    }

    /// Creates a hierarchy from existing keys and certificates.
    init(members: (Member) throws -> CertifiedKey) rethrows {
        tokenIssuer = try members(.tokenIssuer)
        processingIssuer = try members(.processingIssuer)
        identityIssuer = try members(.identityIssuer)
        ecTokenSigner = try members(.ecTokenSigner)
        rsaTokenSigner = try members(.rsaTokenSigner)
        root = try members(.root)
    }

    subscript(member: Member) -> CertifiedKey {
        switch member {
        case .tokenIssuer: tokenIssuer
        case .processingIssuer: processingIssuer
        case .identityIssuer: identityIssuer
        case .ecTokenSigner: ecTokenSigner
        case .rsaTokenSigner: rsaTokenSigner
        case .root: root
        }
    }
}

/// The CA certificates, for the settings of the program under test.
extension SandboxAuthority {
    /// The root certificate in PEM, which stands in for Apple Root CA - G3.
    package var rootCertificate: String { get throws { try root.pem } }

    /// The certificate, in PEM, of the CA that issues payment processing certificates.
    package var processingIssuerCertificate: String { get throws { try processingIssuer.pem } }

    /// The certificate, in PEM, of the CA that issues merchant identity certificates.
    package var identityIssuerCertificate: String { get throws { try identityIssuer.pem } }

    /// The certificate, in PEM, of the CA that issues token signing certificates. Every token contains this
    /// certificate.
    package var tokenIssuerCertificate: String { get throws { try tokenIssuer.pem } }
}
