package import LocalHooks
package import PassProvisioning
import Vocabulary

/// `provisioning`: the encryption of card data for in-app provisioning, on the issuer socket.
package struct ProvisioningSettings: Sendable {
    /// False: the daemon refuses every request on the issuer socket to encrypt card data.
    package let isEnabled: Bool
    /// PEM files; empty: Apple Root CA - G3, which is built in.
    package let trustRoots: [String]
    package let validityPeriod: ProvisioningTrust.ValidityPeriod
    /// Whether audit records contain the last four digits of a card number.
    package let auditsLastFourDigits: Bool
    /// nil if no hook gives activation data.
    package let activation: ActivationSettings?

    /// - Returns: nil if no setting of the group is set. Then the daemon has no issuer socket.
    static func read(_ reader: SettingsReader) throws -> ProvisioningSettings? {
        let isEnabled = reader.optional(
            "provisioning.enabled", .boolean,
            whenUnset: "true if another setting of provisioning is set; otherwise there is no issuer socket",
            "Whether the daemon encrypts card data. If false, it refuses every such request.")
        let trustRoots =
            reader.list(
                "provisioning.trust-roots", .text, whenUnset: "Apple Root CA - G3, built in",
                "PEM files with roots of Apple's provisioning certificates. Only the sandbox environment allows others."
            ) ?? []
        let validityPeriod = reader.value(
            "provisioning.validity-period", SettingFormat<ProvisioningTrust.ValidityPeriod>.validityPeriod,
            default: "checked", "Whether Apple's provisioning certificates must be valid now: checked or ignored.")
        let auditsLastFourDigits = reader.value(
            "provisioning.audit-last-four-digits", .boolean, default: "false",
            "Whether audit records contain the last four digits of a card number.")
        let activation = try Self.activation(reader)
        guard names.contains(where: reader.isSet) else { return nil }
        return ProvisioningSettings(
            isEnabled: isEnabled ?? true, trustRoots: trustRoots, validityPeriod: validityPeriod,
            auditsLastFourDigits: auditsLastFourDigits, activation: activation)
    }

    private static let names = [
        "provisioning.enabled", "provisioning.trust-roots", "provisioning.validity-period",
        "provisioning.audit-last-four-digits", "provisioning.activation.command", "provisioning.activation.url",
        "provisioning.activation.time-limit",
    ]

    private static func activation(_ reader: SettingsReader) throws -> ActivationSettings? {
        let command = reader.list(
            "provisioning.activation.command", .text, whenUnset: "none",
            "The path and arguments of a program that prints a card's activation data.")
        let endpoint = reader.optional(
            "provisioning.activation.url", .localEndpoint, whenUnset: "none",
            "The URL of an HTTP server on this machine that responds with a card's activation data.")
        let timeLimit = reader.value(
            "provisioning.activation.time-limit", .timeout, default: "10s",
            "How long one call of the command or the server may take.")
        guard command == nil || endpoint == nil else {
            throw SettingsError(
                "'provisioning.activation.command' and 'provisioning.activation.url' are both set; remove one of them")
        }
        if let endpoint { return ActivationSettings(hook: .endpoint(endpoint), timeLimit: timeLimit) }
        guard let command else { return nil }
        guard command.first?.hasPrefix("/") == true else {
            throw SettingsError(
                "'provisioning.activation.command' does not begin with an absolute path; set it to a list of a program's absolute path and its arguments"
            )
        }
        return ActivationSettings(hook: .command(command), timeLimit: timeLimit)
    }
}

extension SettingFormat where Value == ProvisioningTrust.ValidityPeriod {
    fileprivate static var validityPeriod: Self {
        Self(expectation: "expected one of checked, ignored") { ProvisioningTrust.ValidityPeriod(rawValue: $0) }
    }
}
