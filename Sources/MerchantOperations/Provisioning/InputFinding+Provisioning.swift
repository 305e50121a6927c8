import MerchantCore
import PassProvisioning

extension InputFinding {
    init(_ finding: some ProvisioningFinding) {
        self.init(code: finding.code, message: finding.message, action: finding.action)
    }

    /// The warning about a response without activation data.
    static let activationDataMissing = InputFinding(
        code: "activationDataMissing",
        message:
            "neither the request nor an activation hook gave 'activationData', which Apple Wallet sends to the network",
        action:
            "send the network's one-time password in 'activationData', or set provisioning.activation.command or provisioning.activation.url, unless the network needs none"
    )
}

extension MerchantError {
    /// - Parameter findings: at least one.
    static func provisioningDataInvalid(_ findings: [InputFinding]) -> MerchantError {
        MerchantError(
            .provisioningDataInvalid,
            "the card data was not encrypted: "
                + findings.map { "\($0.code): \($0.message): \($0.action)" }.joined(separator: "; "),
            findings: findings)
    }
}
