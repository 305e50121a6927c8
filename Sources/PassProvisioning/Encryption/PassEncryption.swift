import Crypto
import FoundationEssentials
import Secrets

/// One encryption with EV_ECC_v2, with the intermediate values. swift-crypto wipes the shared secret and the symmetric
/// key when they are released.
struct PassEncryption {
    let sharedSecret: SharedSecret
    let symmetricKey: SymmetricKey
    let pass: EncryptedPass

    init(
        _ plaintext: borrowing SecretBytes, ephemeralKey: P256.KeyAgreement.PrivateKey,
        certificates: VerifiedProvisioningCertificates, version: EncryptionVersion
    ) throws(PassEncryptionError) {
        guard version == .eccV2 else { throw .unsupportedEncryptionVersion(version) }
        guard plaintext.count > 0 else { throw .emptyPlaintext }
        let point = ephemeralKey.publicKey.x963Representation
        guard let secret = try? ephemeralKey.sharedSecretFromKeyAgreement(with: certificates.leafPublicKey) else {
            throw .encryptionFailed
        }
        sharedSecret = secret
        symmetricKey = PassKeyDerivation.symmetricKey(sharedSecret: secret, ephemeralPublicKey: point)
        pass = EncryptedPass(
            encryptedPassData: try PassCipher.seal(plaintext, using: symmetricKey), ephemeralPublicKey: point)
    }
}
