import MerchantCore
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
    let merchantTokens: MerchantTokenOperations
    let audit: AuditOperations
    let backups: BackupOperations
    let masterKey: MasterKeyOperations
    let events: EventOperations
    let webhooks: WebhookOperations
    let monitoring: Monitoring
    let nodes: NodeOperations
    /// Manages the machines that may call the portal.
    let access: AccessOperations
    let invitations: InvitationOperations
    let portalSessions: PortalSessionOperations
    /// Returns the beginning of every link to the portal, such as `https://pay.example.com`; nil if the settings define
    /// no portal, or if the portal does not listen yet.
    let portalURL: @Sendable () -> String?
    /// The beginning of the paths at which the portal receives notifications of merchant tokens, such as `/tokenapi`.
    let tokenNotificationPrefix: String
    /// Returns whether the portal asks for client certificates: whether `portal.tls.client-ca` is in force.
    let readsClientCertificates: @Sendable () -> Bool
    let reload: ReloadSettings
    /// Counts requests that were refused for lack of a permit, until the audit records them.
    let refusals: RefusalLog
    /// Collects the faults that the daemon finds in stored keys and in the audit.
    let integrity: IntegrityFindings

    /// Selects the use cases of this server from all use cases of the daemon.
    ///
    /// - Parameters:
    ///   - portalURL: returns the setting `portal.public-url` or its default, without a final slash; nil if the
    ///     settings define no portal, or if the portal does not listen yet.
    ///   - tokenNotificationPrefix: the setting `merchant-tokens.path`.
    ///   - readsClientCertificates: returns whether `portal.tls.client-ca` is in force.
    ///   - reload: reads the daemon's settings again.
    package init(
        from operations: Operations, portalURL: @escaping @Sendable () -> String? = { nil },
        tokenNotificationPrefix: String = "/tokenapi",
        readsClientCertificates: @escaping @Sendable () -> Bool = { false },
        reload: @escaping ReloadSettings
    ) {
        merchants = operations.merchants
        keys = operations.keys
        certificates = operations.certificates
        transitions = operations.transitions
        preparation = operations.preparation
        rolls = operations.rolls
        registrations = operations.registrations
        registrationSync = operations.registrationSync
        domains = operations.domains
        merchantTokens = operations.merchantTokens
        audit = operations.audit
        backups = operations.backups
        masterKey = operations.masterKey
        events = operations.events
        webhooks = operations.webhooks
        monitoring = operations.monitoring
        nodes = operations.nodes
        access = operations.access
        invitations = operations.invitations
        portalSessions = operations.portalSessions
        self.portalURL = portalURL
        self.tokenNotificationPrefix = tokenNotificationPrefix
        self.readsClientCertificates = readsClientCertificates
        self.reload = reload
        refusals = operations.refusals
        integrity = operations.integrity
    }
}

extension AdminOperations {
    /// The beginning of a link to the portal.
    ///
    /// - Throws: `portalNotConfigured` if the settings define no portal, or if the portal does not listen yet.
    func requiredPortalURL() throws(MerchantError) -> String {
        guard let url = portalURL() else {
            throw MerchantError(
                .portalNotConfigured,
                "this daemon has no portal: set 'portal.listen' and the portal's TLS files, then restart the daemon")
        }
        return url
    }

    /// The URL at which the portal receives notifications of merchant tokens, without a secret.
    ///
    /// - Throws: `portalNotConfigured` as for ``requiredPortalURL()``.
    func requiredTokenNotificationURL() throws(MerchantError) -> String {
        try requiredPortalURL() + tokenNotificationPrefix
    }
}
