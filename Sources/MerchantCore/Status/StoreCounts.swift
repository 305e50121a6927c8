package import Vocabulary

/// Counts that `status` shows.
package struct StoreCounts: Hashable, Sendable {
    package var merchants = 0
    package var keyPairs: [KeyState: Int] = [:]
    package var certificates = 0
    /// Active key pairs whose certificates have all expired.
    package var activeWithExpiredCertificate = 0
    /// Merchants with fewer active payment processing key pairs than their target number.
    package var merchantsBelowTarget = 0
    package var auditRecords = 0
    package var auditHead: AuditHead?
    /// Registrations with at least one domain in the desired state.
    package var registrations = 0
    /// Registrations whose desired state differs from Apple's record, as far as the daemon knows it.
    package var registrationsDrifting = 0
    /// Calls to Apple whose outcome is unknown.
    package var registrationCallsOpen = 0

    package init() {}
}
