package import PassProvisioning

/// The settings of in-app provisioning that a reload may change.
package struct ProvisioningPolicy: Sendable {
    /// If this is false, every request is refused. Apple asks issuers for such a switch.
    package var isEnabled: Bool
    /// To which roots Apple's certificates must chain, and whether their validity period is checked.
    package var trust: ProvisioningTrust
    /// Whether audit records contain the last four digits of a card number.
    package var auditsLastFourDigits: Bool

    package init(isEnabled: Bool, trust: ProvisioningTrust, auditsLastFourDigits: Bool = false) {
        self.isEnabled = isEnabled
        self.trust = trust
        self.auditsLastFourDigits = auditsLastFourDigits
    }
}
