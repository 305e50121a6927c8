package import MerchantOperations

/// The use cases that the admin socket serves.
package struct AdminOperations: Sendable {
    let merchants: Merchants
    let keys: KeyOperations
    let certificates: CertificateOperations
    let transitions: KeyTransitionOperations
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
    let refusals: RefusalLog
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
