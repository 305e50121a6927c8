/// Why card data was not encrypted.
public enum PassEncryptionError: ProvisioningFinding {
    /// The encryption scheme is not supported.
    case unsupportedEncryptionVersion(EncryptionVersion)
    /// The card data is empty.
    case emptyPlaintext
    /// The key agreement or the cipher failed. Valid input does not cause this.
    case encryptionFailed

    /// The name of the case.
    public var code: String {
        switch self {
        case .unsupportedEncryptionVersion: "unsupportedEncryptionVersion"
        case .emptyPlaintext: "emptyPlaintext"
        case .encryptionFailed: "encryptionFailed"
        }
    }

    /// What failed.
    public var message: String {
        switch self {
        case .unsupportedEncryptionVersion(let version):
            "the encryption version \(version.rawValue) is not supported, because its padding is not published"
        case .emptyPlaintext: "the card data is empty"
        case .encryptionFailed: "the key agreement or the cipher failed"
        }
    }

    /// What to do.
    public var action: String {
        switch self {
        case .unsupportedEncryptionVersion:
            "make the app create its PKAddPaymentPassRequestConfiguration with PKEncryptionScheme.ECC_V2"
        case .emptyPlaintext: "pass the card data as a JSON object"
        case .encryptionFailed: "try again with a new attempt, and report the fault if it happens again"
        }
    }
}
