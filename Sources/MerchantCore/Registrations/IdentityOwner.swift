package import Vocabulary

/// Whose identity certificate authenticates a call to Apple.
package enum IdentityOwner: Hashable, Sendable {
    /// The platform integrator, or the certificate files in the settings.
    case platform
    /// A merchant with an identity key pair of its own.
    case merchant(MerchantIdentifier)
}
