import Crypto
import CryptoExtras
package import Vocabulary
import X509

/// Apple's certificate authorities and its token signers, played by keys of our own.
///
/// ```text
/// root (P-384) ─┬─ token issuer (P-256, marker …100.6.2.14) ─┬─ EC token signer (marker …100.6.29)
///               │                                            └─ RSA token signer (marker …100.6.29)
///               ├─ processing issuer (P-256, marker …100.6.2.15) ── payment processing certificates, EC and RSA
///               └─ identity issuer (RSA-2048) ── merchant identity certificates
/// ```
///
/// The sandbox is a second, independent implementation of Apple's formats: it shares no code with the targets that
/// verify and decrypt tokens, so that an error in one of the two shows as a disagreement instead of cancelling out.
///
/// A value: made in memory by ``init(createdAt:)``, kept in files by ``AuthorityDirectory``.
package struct SandboxAuthority: Sendable {
    /// The members of the hierarchy, under the names their files bear; the root last, because its file is what says
    /// that a hierarchy is complete.
    enum Part: String, CaseIterable {
        case tokenIssuer = "token-issuer"
        case processingIssuer = "processing-issuer"
        case identityIssuer = "identity-issuer"
        case ecTokenSigner = "token-signer-ec"
        case rsaTokenSigner = "token-signer-rsa"
        case root
    }

    private let tokenIssuer, processingIssuer, identityIssuer, ecTokenSigner, rsaTokenSigner, root: CertifiedKey

    /// Makes a new hierarchy.
    ///
    /// Authorities began ten years before and leaves one year before, so that tokens and certificates with times in
    /// the past chain too; their lengths of life are Apple's.
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
        // As at Apple, the intermediate with an EC key certifies the signer with an RSA key too.
        ecTokenSigner = try tokenIssuer.certifying(
            .tokenSigner("ecc-smp-broker-sign_UC4-SANDBOX", from: yearAgo, years: 5),
            key: .init(P256.Signing.PrivateKey()))
        rsaTokenSigner = try tokenIssuer.certifying(
            .tokenSigner("rsa-smp-broker-sign_UC4-SANDBOX", from: yearAgo, years: 5),
            key: .init(_RSA.Signing.PrivateKey(keySize: .bits2048)))
    }

    /// Puts a hierarchy together again from where its parts are kept.
    init(parts: (Part) throws -> CertifiedKey) rethrows {
        tokenIssuer = try parts(.tokenIssuer)
        processingIssuer = try parts(.processingIssuer)
        identityIssuer = try parts(.identityIssuer)
        ecTokenSigner = try parts(.ecTokenSigner)
        rsaTokenSigner = try parts(.rsaTokenSigner)
        root = try parts(.root)
    }

    subscript(part: Part) -> CertifiedKey {
        switch part {
        case .tokenIssuer: tokenIssuer
        case .processingIssuer: processingIssuer
        case .identityIssuer: identityIssuer
        case .ecTokenSigner: ecTokenSigner
        case .rsaTokenSigner: rsaTokenSigner
        case .root: root
        }
    }
}

/// What a program under test is told to trust.
extension SandboxAuthority {
    /// Stands where Apple Root CA - G3 stands. PEM.
    package var rootCertificate: String { get throws { try root.pem } }

    /// Issues payment processing certificates. PEM.
    package var processingIssuerCertificate: String { get throws { try processingIssuer.pem } }

    /// Issues identity certificates. PEM.
    package var identityIssuerCertificate: String { get throws { try identityIssuer.pem } }

    /// Issues the certificates of the token signers; every token carries it. PEM.
    package var tokenIssuerCertificate: String { get throws { try tokenIssuer.pem } }
}
