import Crypto
import CryptoExtras
import SwiftASN1
import Vocabulary
import X509

/// A payment processing certificate, read for what a token mint needs of it. Its issuer and dates are not judged:
/// tests need tokens for expired certificates and for certificates of other authorities.
struct ProcessingCertificate {
    enum Key {
        case p256(P256.KeyAgreement.PublicKey)
        case rsa(_RSA.Encryption.PublicKey)
    }

    let key: Key
    let publicKeyHash: PublicKeyHash
    private let certificate: Certificate

    /// - Parameter bytes: PEM or DER.
    init(_ bytes: [UInt8]) throws(SandboxFault) {
        let expected = "one payment processing certificate, PEM or DER"
        let der = try EncodedFile.der(of: bytes, labels: ["CERTIFICATE"], expected: expected)
        guard let certificate = try? Certificate(derEncoded: der),
            let publicKeyInfo = try? TLV.der(certificate.publicKey)
        else { throw SandboxFault("found DER that is no certificate, expected \(expected)") }
        try Self.judgePurpose(of: certificate)
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

    /// From extension 1.2.840.113635.100.6.32. Asked for EC_v1 only: RSA_v1 does not depend on the merchant.
    var merchantHash: MerchantIdentifierHash {
        get throws(SandboxFault) { try AppleExtension.merchantHash(in: certificate) }
    }

    /// Judged by key usage and extended key usage: identity certificates carry the merchant's hash too.
    private static func judgePurpose(of certificate: Certificate) throws(SandboxFault) {
        guard let usage = try? certificate.extensions.keyUsage, usage.keyEncipherment else {
            throw SandboxFault(
                "found a certificate without key usage keyEncipherment, expected a processing certificate")
        }
        guard certificate.extensions[oid: [2, 5, 29, 37]] == nil else {
            throw SandboxFault("found a certificate with an extended key usage, expected a processing certificate")
        }
    }

    private static func key(
        of publicKey: Certificate.PublicKey, _ publicKeyInfo: [UInt8]
    ) throws(SandboxFault) -> Key {
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
        throw SandboxFault("found a certificate for \(publicKey), expected EC(P-256) or RSA(2048)")
    }
}
