import Crypto
import CryptoExtras
import SwiftASN1
import Vocabulary
import X509

/// A payment processing certificate to which tokens are encrypted.
///
/// The issuer and the validity period are not checked: tests need tokens for expired certificates and for certificates
/// of other CAs.
struct ProcessingCertificate {
    enum Key {
        case p256(P256.KeyAgreement.PublicKey)
        case rsa(_RSA.Encryption.PublicKey)
    }

    let key: Key
    let publicKeyHash: PublicKeyHash
    private let certificate: Certificate

    /// - Parameter bytes: the certificate in PEM or DER.
    init(_ bytes: [UInt8]) throws(SandboxError) {
        let expected = "one payment processing certificate, PEM or DER"
        let der = try EncodedFile.der(of: bytes, labels: ["CERTIFICATE"], expected: expected)
        guard let certificate = try? Certificate(derEncoded: der),
            let publicKeyInfo = try? TLV.der(certificate.publicKey)
        else { throw SandboxError("the file is not a certificate, expected \(expected)") }
        try Self.checkPurpose(of: certificate)
        key = try Self.key(of: certificate.publicKey, publicKeyInfo)
        publicKeyHash = PublicKeyHash(of: publicKeyInfo)
        self.certificate = certificate
    }

    var algorithm: KeyAlgorithm {
        switch key {
        case .p256: .ecV1
        case .rsa: .rsaV1
        }
    }

    /// The merchant identifier hash in extension 1.2.840.113635.100.6.32. Only EC_v1 uses the hash, as an input of the
    /// key derivation.
    var merchantHash: MerchantIdentifierHash {
        get throws(SandboxError) { try AppleExtension.merchantHash(in: certificate) }
    }

    /// Checks the key usage and extended key usage, by which a payment processing certificate differs from a merchant
    /// identity certificate. Both have the extension with the merchant identifier hash.
    private static func checkPurpose(of certificate: Certificate) throws(SandboxError) {
        guard let usage = try? certificate.extensions.keyUsage, usage.keyEncipherment else {
            throw SandboxError(
                "the key usage of the certificate does not include keyEncipherment, "
                    + "expected a payment processing certificate")
        }
        guard certificate.extensions[oid: [2, 5, 29, 37]] == nil else {
            throw SandboxError(
                "the certificate has an extended key usage, as identity certificates have; "
                    + "expected a payment processing certificate")
        }
    }

    private static func key(
        of publicKey: Certificate.PublicKey, _ publicKeyInfo: [UInt8]
    ) throws(SandboxError) -> Key {
        if let signing = P256.Signing.PublicKey(publicKey),
            let agreement = try? P256.KeyAgreement.PublicKey(x963Representation: signing.x963Representation)
        {
            return .p256(agreement)
        }
        if let signing = _RSA.Signing.PublicKey(publicKey), signing.keySizeInBits == 2048,
            let encryption = try? _RSA.Encryption.PublicKey(derRepresentation: publicKeyInfo)
        {
            return .rsa(encryption)
        }
        throw SandboxError("the certificate's public key is \(publicKey), expected EC(P-256) or RSA(2048)")
    }
}
