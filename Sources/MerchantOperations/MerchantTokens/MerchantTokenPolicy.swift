package import Vocabulary

/// The settings of the use cases for merchant tokens.
package struct MerchantTokenPolicy: Hashable, Sendable {
    /// The merchant of notifications whose path contains no secret; nil for the only platform integrator.
    package var merchantIdentifier: MerchantIdentifier?
    /// The largest number of notifications that wait, in all.
    package var waiting = 100_000
    /// The largest number of notifications from one address that wait. An address also has at most a tenth of
    /// ``waiting``.
    package var waitingPerAddress = 10_000
    /// Whether a decrypted payment token adds its merchant token to the daemon's records.
    package var recordsPayments = true
    /// Whether the daemon stores the account numbers of merchant tokens (MPANs), sealed.
    package var storesMPANs = false

    package init() {}
}
