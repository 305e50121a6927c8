import CryptoExtras
import SwiftASN1
import X509

/// A certificate of the sandbox's hierarchy with its private key.
struct CertifiedKey: Sendable {
    let certificate: Certificate
    let privateKey: Certificate.PrivateKey

    /// - Throws: ``SandboxError`` if the private key does not belong to the certificate.
    init(certificate: Certificate, privateKey: Certificate.PrivateKey) throws(SandboxError) {
        guard certificate.publicKey == privateKey.publicKey else {
            throw SandboxError("the private key does not belong to the certificate '\(certificate.subject)'")
        }
        self.certificate = certificate
        self.privateKey = privateKey
    }

    /// Creates a self-signed root.
    init(selfSigned template: CertificateTemplate, key: Certificate.PrivateKey) throws {
        privateKey = key
        certificate = try template.signed(
            publicKey: key.publicKey, issuer: template.subject, issuerKey: key, algorithm: .ecdsaWithSHA384)
    }

    /// Returns the given key with a new certificate, which the private key of this CA signs.
    func certifying(_ template: CertificateTemplate, key: Certificate.PrivateKey) throws -> CertifiedKey {
        try CertifiedKey(certificate: certify(template, publicKey: key.publicKey), privateKey: key)
    }

    /// Returns a new certificate for a public key, which the private key of this CA signs.
    ///
    /// The digest is always SHA-256, even if the P-384 root signs: Apple's root, too, uses SHA-384 only for its own
    /// certificate.
    func certify(_ template: CertificateTemplate, publicKey: Certificate.PublicKey) throws -> Certificate {
        let isRSA = _RSA.Signing.PublicKey(certificate.publicKey) != nil
        return try template.signed(
            publicKey: publicKey, issuer: certificate.subject, issuerKey: privateKey,
            algorithm: isRSA ? .sha256WithRSAEncryption : .ecdsaWithSHA256)
    }

    /// The certificate in PEM.
    var pem: String { get throws { try certificate.serializeAsPEM().pemString + "\n" } }
}
