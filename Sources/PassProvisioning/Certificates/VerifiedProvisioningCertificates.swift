public import Crypto

/// The result of ``ProvisioningCertificates/verified(trust:at:)``. Only tests create a value in another way, so card
/// data is encrypted only to a verified key.
public struct VerifiedProvisioningCertificates: Sendable {
    /// The public key of the leaf, to which the card data is encrypted.
    public let leafPublicKey: P256.KeyAgreement.PublicKey

    init(leafPublicKey: P256.KeyAgreement.PublicKey) { self.leafPublicKey = leafPublicKey }

    /// Creates a value without any check, for tests of the encryption.
    package init(uncheckedLeafPublicKey leafPublicKey: P256.KeyAgreement.PublicKey) {
        self.leafPublicKey = leafPublicKey
    }
}
