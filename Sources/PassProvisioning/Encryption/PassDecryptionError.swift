/// The only error of ``PassDecryption``. It is the same for every cause, so that it gives an attacker no information.
public enum PassDecryptionError: ProvisioningFinding {
    /// The card data cannot be decrypted with this key.
    case decryptionFailed

    /// The name of the case.
    public var code: String { "decryptionFailed" }

    /// What failed.
    public var message: String {
        "the card data cannot be decrypted: it was encrypted to another key or in another way, or it was modified"
    }

    /// What to do.
    public var action: String {
        "check that it was encrypted to this leaf, with an IV of 12 zero bytes, and that Base64 was applied once"
    }
}
