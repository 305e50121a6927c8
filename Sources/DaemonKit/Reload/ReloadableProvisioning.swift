import LocalHooks
import MerchantOperations
import PaymentToken

/// The settings of in-app provisioning that a reload replaces.
struct ReloadableProvisioning: Sendable {
    var policy: ProvisioningPolicy
    /// The roots in ``policy``; nil: Apple's root, which is built in.
    var roots: [TrustRoot]?
    /// nil if no hook gives activation data.
    var activation: ActivationSettings?

    /// - Returns: nil if the settings define no in-app provisioning.
    init?(_ read: PreparedStart) {
        guard let settings = read.settings.provisioning, let files = read.files.provisioning else { return nil }
        policy = ProvisioningPolicy(
            isEnabled: settings.isEnabled, trust: files.trust, auditsLastFourDigits: settings.auditsLastFourDigits)
        roots = files.roots
        activation = settings.activation
    }

    /// The same settings, with in-app provisioning disabled.
    var disabled: ReloadableProvisioning {
        var provisioning = self
        provisioning.policy.isEnabled = false
        return provisioning
    }
}
