package import MerchantOperations

/// The use cases that the admin socket serves.
package struct AdminOperations: Sendable {
    let merchants: Merchants
    let keys: KeyOperations
    let certificates: CertificateOperations
    let transitions: KeyTransitionOperations
    /// Generates the key pairs that a merchant lacks to reach the target number of key pairs.
    let preparation: SuccessorPreparation
    let rolls: RollOperations
    let registrations: RegistrationOperations
    let registrationSync: RegistrationSync
    let domains: DomainOperations
    let audit: AuditOperations
    let backups: BackupOperations
    let masterKey: MasterKeyOperations
    let events: EventOperations
    let monitoring: Monitoring
    /// Counts requests that were refused for lack of a permit, until the audit records them.
    let refusals: RefusalLog
    /// Collects the faults that the daemon finds in stored keys and in the audit.
    let integrity: IntegrityFindings

    /// Selects the use cases of this server from all use cases of the daemon.
    package init(from operations: Operations) {
        merchants = operations.merchants
        keys = operations.keys
        certificates = operations.certificates
        transitions = operations.transitions
        preparation = operations.preparation
        rolls = operations.rolls
        registrations = operations.registrations
        registrationSync = operations.registrationSync
        domains = operations.domains
        audit = operations.audit
        backups = operations.backups
        masterKey = operations.masterKey
        events = operations.events
        monitoring = operations.monitoring
        refusals = operations.refusals
        integrity = operations.integrity
    }
}
