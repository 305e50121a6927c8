import CryptoExtras
import SwiftASN1
import X509

/// A certificate of the sandbox's own hierarchy together with its private key.
struct CertifiedKey: Sendable {
    let certificate: Certificate
    let privateKey: Certificate.PrivateKey

    /// - Throws: ``SandboxFault`` unless the two belong together.
    init(certificate: Certificate, privateKey: Certificate.PrivateKey) throws(SandboxFault) {
        guard certificate.publicKey == privateKey.publicKey else {
            throw SandboxFault("found a private key of another certificate, expected that of '\(certificate.subject)'")
        }
        self.certificate = certificate
        self.privateKey = privateKey
    }

    /// A root: signs itself.
    init(selfSigned template: CertificateTemplate, key: Certificate.PrivateKey) throws {
        privateKey = key
        certificate = try template.signed(
            publicKey: key.publicKey, issuer: template.subject, issuerKey: key, algorithm: .ecdsaWithSHA384)
    }

    /// Certifies a further key of the hierarchy.
    func certifying(_ template: CertificateTemplate, key: Certificate.PrivateKey) throws -> CertifiedKey {
        try CertifiedKey(certificate: certify(template, publicKey: key.publicKey), privateKey: key)
    }

    /// Signs a certificate for somebody else's public key.
    ///
    /// Apple's P-384 root signs its intermediates with SHA-256 and only itself with SHA-384; so do we.
    func certify(_ template: CertificateTemplate, publicKey: Certificate.PublicKey) throws -> Certificate {
        let isRSA = _RSA.Signing.PublicKey(certificate.publicKey) != nil
        return try template.signed(
            publicKey: publicKey, issuer: certificate.subject, issuerKey: privateKey,
            algorithm: isRSA ? .sha256WithRSAEncryption : .ecdsaWithSHA256)
    }

    /// The certificate alone.
    var pem: String { get throws { try certificate.serializeAsPEM().pemString + "\n" } }
}
