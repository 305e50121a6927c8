/// The encryption scheme of in-app provisioning, as PassKit names it.
public enum EncryptionVersion: String, Sendable, CaseIterable {
    /// `PKEncryptionSchemeECC_V2`: ECDH on P-256 and AES-256-GCM.
    case eccV2 = "EV_ECC_v2"
    /// `PKEncryptionSchemeRSA_V2`. It is not supported, because Apple has not published its padding.
    case rsaV2 = "EV_RSA_v2"
}
