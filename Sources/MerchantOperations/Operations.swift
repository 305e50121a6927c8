package import MerchantCore
package import PaymentToken
package import Vocabulary

/// Builds all use cases. Each use case gets only the ports of the store that it needs.
///
/// Only the code that builds the daemon, and tests, use this type. Servers and services get only the use cases that
/// they need.
package struct Operations: Sendable {
    /// The objects from outside this module that the use cases need.
    package struct Collaborators: Sendable {
        package let store: any MerchantRepository
        /// Seals and uses the private keys.
        package let custodian: any KeyCustodian
        /// Seals and unseals the account numbers of merchant tokens.
        package let mpanCustodian: any MPANCustodian
        /// Records which payment tokens were used, so that no token is claimed twice.
        package let claims: any ClaimLedger
        package let clock: any WallClock
        /// A clock that does not follow a change of the machine's clock until the change has lasted 24 hours.
        package let confirmedTime: ConfirmedTime
        package let environment: Environment
        /// Verifies the signatures of payment tokens.
        package let verifier: CurrentValue<SignatureVerifier>
        package let rollPolicy: CurrentValue<RollPolicy>
        package let backupPolicy: CurrentValue<BackupPolicy>
        package let backups: any BackupManaging
        package let masterKey: any MasterKeyRotating
        /// Returns the current findings about the daemon itself and its machine.
        package let conditions: @Sendable () -> [StatusFinding]
        package let gateway: any RegistrationGateway
        package let merchantTokenGateway: any MerchantTokenGateway
        package let merchantTokenPolicy: MerchantTokenPolicy
        package let domainChecker: any DomainChecker
        package let webhooks: any WebhookTesting
        package let notifier: EventNotifier
        /// Lists the daemons that share the database.
        package let nodes: any NodeDirectory
        /// nil if the settings define no in-app provisioning.
        package let provisioning: ProvisioningOperations.Ports?
        package let sessions: SessionOperations.Ports
        /// nil if the settings name no hook for usage information.
        package let usageInformation: UsageInformationOperations.Ports?

        /// - Parameters:
        ///   - confirmedTime: nil for a confirmed time that starts as the time of the machine's clock.
        ///   - notifier: an object that is already an observer of the store, so that the store notifies it of new
        ///     events.
        package init(
            store: any MerchantRepository, custodian: any KeyCustodian, mpanCustodian: any MPANCustodian,
            claims: any ClaimLedger, clock: any WallClock, confirmedTime: ConfirmedTime? = nil,
            environment: Environment, verifier: CurrentValue<SignatureVerifier>,
            rollPolicy: CurrentValue<RollPolicy>, backupPolicy: CurrentValue<BackupPolicy>,
            backups: any BackupManaging, masterKey: any MasterKeyRotating,
            conditions: @escaping @Sendable () -> [StatusFinding] = { [] },
            gateway: any RegistrationGateway = NotConfiguredGateway(),
            merchantTokenGateway: any MerchantTokenGateway = NotConfiguredGateway(),
            merchantTokenPolicy: MerchantTokenPolicy = MerchantTokenPolicy(), domainChecker: any DomainChecker,
            webhooks: any WebhookTesting = NoWebhooks(), notifier: EventNotifier,
            nodes: any NodeDirectory = NoNodes(), provisioning: ProvisioningOperations.Ports? = nil,
            sessions: SessionOperations.Ports? = nil,
            usageInformation: UsageInformationOperations.Ports? = nil
        ) {
            self.store = store
            self.custodian = custodian
            self.mpanCustodian = mpanCustodian
            self.claims = claims
            self.clock = clock
            self.confirmedTime = confirmedTime ?? ConfirmedTime(clock: clock)
            self.environment = environment
            self.verifier = verifier
            self.rollPolicy = rollPolicy
            self.backupPolicy = backupPolicy
            self.backups = backups
            self.masterKey = masterKey
            self.conditions = conditions
            self.gateway = gateway
            self.merchantTokenGateway = merchantTokenGateway
            self.merchantTokenPolicy = merchantTokenPolicy
            self.domainChecker = domainChecker
            self.webhooks = webhooks
            self.notifier = notifier
            self.nodes = nodes
            self.provisioning = provisioning
            self.sessions = sessions ?? .notConfigured(environment)
            self.usageInformation = usageInformation
        }
    }

    package let merchants: Merchants
    package let keys: KeyOperations
    package let certificates: CertificateOperations
    package let transitions: KeyTransitionOperations
    package let preparation: SuccessorPreparation
    package let rolls: RollOperations
    package let renewals: RenewalSchedule
    package let registrations: RegistrationOperations
    package let registrationSync: RegistrationSync
    package let openCalls: OpenCallResolution
    package let domains: DomainOperations
    package let paymentTokens: PaymentTokenOperations
    package let keyUses: KeyUseRecording
    package let audit: AuditOperations
    package let refusalAudit: RefusalAudit
    package let backups: BackupOperations
    package let masterKey: MasterKeyOperations
    package let events: EventOperations
    package let deliveries: WebhookDeliveries
    package let webhooks: WebhookOperations
    package let monitoring: Monitoring
    package let clock: ClockOperations
    package let start: StartOperations
    package let settingsRecording: SettingsRecording
    package let access: AccessOperations
    package let invitations: InvitationOperations
    package let portalSessions: PortalSessionOperations
    package let onboarding: OnboardingOperations
    package let fleet: FleetOperations
    package let merchantTokens: MerchantTokenOperations
    package let mpans: MPANOperations
    package let tokenNotifications: TokenNotificationIntake
    package let tokenEvents: TokenEventFetching
    package let merchantTokenPayments: MerchantTokenPaymentRecording
    /// nil if the settings name no hook for usage information.
    package let usageInformation: UsageInformationOperations?
    /// nil if the settings define no in-app provisioning.
    package let provisioning: ProvisioningOperations?
    /// Merchant sessions of Apple Pay on the Web, not to be confused with ``portalSessions``.
    package let merchantSessions: SessionOperations
    package let validationURLAudit: ValidationURLAudit
    package let nodes: NodeOperations

    /// Wakes the tasks that wait for events. The store notifies this object of new events.
    package let notifier: EventNotifier
    /// Refused requests that are not in the audit yet.
    package let refusals: RefusalLog
    /// The faults found in stored keys and in the audit since the daemon started.
    package let integrity = IntegrityFindings()
    /// Counts the uses of key pairs in memory until they are stored.
    package let observedUses = KeyUses()
    package let tokenMetrics = TokenMetrics()
    package let provisioningMetrics: ProvisioningMetrics
    package let sessionMetrics: SessionMetrics
    package let merchantTokenMetrics: MerchantTokenMetrics
    /// Wakes the tasks that fetch events of merchant tokens, when a notification has arrived.
    package let tokenNotificationArrivals = ChangeSignal()

    package init(_ parts: Collaborators) {
        let (store, clock, confirmedTime, policy) = (parts.store, parts.clock, parts.confirmedTime, parts.rollPolicy)
        let generation = KeyPairGeneration(custodian: parts.custodian)
        // In Apple's sandbox environment, all customers pay with the same test cards, so that account numbers do not
        // distinguish customers.
        let tokenTimes = TokenTimeWatch(distinguishesAccounts: parts.environment == .production)
        // Each use case gets the store as a `Transactions`. The closures `{ $0 }` narrow the store's transaction to the
        // protocols that the use case names in its `Records`; `{ _ in }` gives it no access.
        let keyRecords = KeyOperations.Records(store, reads: { $0 }, writes: { $0 })
        notifier = parts.notifier
        nodes = NodeOperations(parts.nodes, clock: clock)
        refusals = RefusalLog(clock: clock)

        merchants = Merchants(
            records: .init(store, reads: { $0 }, writes: { $0 }), clock: clock, confirmedTime: confirmedTime)
        keys = KeyOperations(
            records: keyRecords, custodian: parts.custodian, generation: generation, environment: parts.environment,
            clock: clock, confirmedTime: confirmedTime)
        certificates = CertificateOperations(
            records: keyRecords, custodian: parts.custodian, environment: parts.environment, clock: clock)
        transitions = KeyTransitionOperations(
            records: .init(store, reads: { _ in }, writes: { $0 }), policy: policy, uses: observedUses,
            eraseCopiesOfDestroyedSecrets: { try await store.eraseCopiesOfDestroyedSecrets() }, nodes: parts.nodes,
            confirmedTime: confirmedTime)
        preparation = SuccessorPreparation(
            records: .init(store, reads: { $0 }, writes: { $0 }), policy: policy, generation: generation, clock: clock)
        rolls = RollOperations(
            records: .init(store, reads: { $0 }, writes: { $0 }), policy: policy, generation: generation,
            preparation: preparation, uses: observedUses, nodes: parts.nodes, clock: clock, confirmedTime: confirmedTime
        )
        renewals = RenewalSchedule(
            records: .init(store, reads: { $0 }, writes: { $0 }), policy: policy, rolls: rolls,
            preparation: preparation, clock: clock, confirmedTime: confirmedTime)

        let calls = RegistrationCalls(
            records: .init(store, reads: { $0 }, writes: { $0 }), gateway: parts.gateway, clock: clock,
            confirmedTime: confirmedTime)
        registrations = RegistrationOperations(calls: calls)
        registrationSync = RegistrationSync(calls: calls)
        openCalls = OpenCallResolution(calls: calls)
        domains = DomainOperations(
            records: .init(store, reads: { $0 }, writes: { $0 }), domainChecker: parts.domainChecker, clock: clock)

        let merchantTokenMetrics = MerchantTokenMetrics(clock: clock)
        self.merchantTokenMetrics = merchantTokenMetrics
        let merchantTokenPolicy = parts.merchantTokenPolicy
        let merchantTokenPayments = MerchantTokenPayments(
            isEnabled: merchantTokenPolicy.recordsPayments, metrics: merchantTokenMetrics)
        merchantTokens = MerchantTokenOperations(
            records: .init(store, reads: { $0 }, writes: { $0 }), gateway: parts.merchantTokenGateway, clock: clock,
            confirmedTime: confirmedTime)
        mpans = MPANOperations(
            records: .init(store, reads: { $0 }, writes: { $0 }), custodian: parts.mpanCustodian,
            policy: merchantTokenPolicy, clock: clock)
        usageInformation = parts.usageInformation.map { [merchantTokens] in
            UsageInformationOperations($0, tokens: merchantTokens, metrics: merchantTokenMetrics)
        }
        tokenNotifications = TokenNotificationIntake(
            records: .init(store, reads: { $0 }, writes: { $0 }), policy: merchantTokenPolicy,
            metrics: merchantTokenMetrics, arrivals: tokenNotificationArrivals, clock: clock)
        tokenEvents = TokenEventFetching(
            records: .init(store, reads: { $0 }, writes: { $0 }), gateway: parts.merchantTokenGateway,
            policy: merchantTokenPolicy,
            metadata: TokenMetadataDecryption(
                records: .init(store, reads: { $0 }, writes: { _ in }), custodian: parts.custodian,
                mpanCustodian: merchantTokenPolicy.storesMPANs ? parts.mpanCustodian : nil,
                verifier: parts.verifier, uses: observedUses, clock: clock),
            metrics: merchantTokenMetrics, clock: clock, confirmedTime: confirmedTime)
        self.merchantTokenPayments = MerchantTokenPaymentRecording(
            records: .init(store, reads: { _ in }, writes: { $0 }), payments: merchantTokenPayments)

        paymentTokens = PaymentTokenOperations(
            records: .init(store, reads: { $0 }, writes: { $0 }), custodian: parts.custodian, claims: parts.claims,
            verifier: parts.verifier, tokenTimes: tokenTimes, uses: observedUses,
            merchantTokens: merchantTokenPayments, metrics: tokenMetrics, clock: clock)
        keyUses = KeyUseRecording(
            records: .init(store, reads: { $0 }, writes: { $0 }), uses: observedUses, policy: policy,
            confirmedTime: confirmedTime)

        audit = AuditOperations(
            records: .init(store, reads: { $0 }, writes: { $0 }), findings: integrity, clock: clock)
        refusalAudit = RefusalAudit(
            records: .init(store, reads: { _ in }, writes: { $0 }), refusals: refusals, clock: clock)
        backups = BackupOperations(
            records: .init(store, reads: { $0 }, writes: { $0 }), service: parts.backups, audit: audit,
            findings: integrity, clock: clock)
        masterKey = MasterKeyOperations(parts.masterKey)
        events = EventOperations(
            records: .init(store, reads: { $0 }, writes: { $0 }), notifier: notifier, clock: clock,
            confirmedTime: confirmedTime)
        deliveries = WebhookDeliveries(records: .init(store, reads: { $0 }, writes: { $0 }), clock: clock)
        webhooks = WebhookOperations(
            records: .init(store, reads: { $0 }, writes: { $0 }), webhooks: parts.webhooks, clock: clock)
        monitoring = Monitoring(
            records: .init(store, reads: { $0 }, writes: { _ in }),
            sources: Monitoring.Sources(
                conditions: parts.conditions, claims: { [claims = parts.claims] in claims.health },
                clockBehindClaims: { [claims = parts.claims] in claims.clockBehindClaims },
                gateway: { [gateway = parts.gateway] in gateway.health },
                circuit: { [gateway = parts.gateway] in gateway.circuitHealth }),
            integrity: integrity, tokenTimes: tokenTimes, merchantTokens: merchantTokenMetrics,
            merchantTokenPolicy: merchantTokenPolicy, environment: parts.environment, policy: policy,
            backupPolicy: parts.backupPolicy, clock: clock, confirmedTime: confirmedTime)
        self.clock = ClockOperations(
            records: .init(store, reads: { $0 }, writes: { $0 }), policy: policy, confirmedTime: confirmedTime)
        start = StartOperations(records: .init(store, reads: { $0 }, writes: { $0 }), clock: clock)
        settingsRecording = SettingsRecording(
            records: .init(store, reads: { _ in }, writes: { $0 }), clock: clock)

        access = AccessOperations(
            records: .init(store, reads: { $0 }, writes: { $0 }),
            readClientCertificate: { [custodian = parts.custodian] in
                try custodian.fingerprint(ofClientCertificate: $0)
            }, confirmedTime: confirmedTime)
        invitations = InvitationOperations(
            records: .init(store, reads: { $0 }, writes: { $0 }), confirmedTime: confirmedTime)
        portalSessions = PortalSessionOperations(
            records: .init(store, reads: { $0 }, writes: { $0 }), confirmedTime: confirmedTime)
        onboarding = OnboardingOperations(
            records: .init(store, reads: { $0 }, writes: { _ in }),
            useCases: OnboardingOperations.UseCases(
                merchants: merchants, keys: keys, certificates: certificates, rolls: rolls,
                registrations: registrations, domains: domains),
            readCertificate: { [custodian = parts.custodian] in try custodian.readCertificate($0) }, policy: policy,
            clock: clock, confirmedTime: confirmedTime)
        fleet = FleetOperations(
            records: .init(store, reads: { $0 }, writes: { _ in }), monitoring: monitoring, policy: policy,
            confirmedTime: confirmedTime)
        let provisioningMetrics = ProvisioningMetrics()
        self.provisioningMetrics = provisioningMetrics
        provisioning = parts.provisioning.map { ports in
            ProvisioningOperations(
                ports, records: .init(store, reads: { _ in }, writes: { $0 }), metrics: provisioningMetrics,
                clock: clock)
        }
        validationURLAudit = ValidationURLAudit(
            records: .init(store, reads: { _ in }, writes: { $0 }), clock: clock)
        sessionMetrics = SessionMetrics()
        merchantSessions = SessionOperations(
            parts.sessions, records: .init(store, reads: { $0 }, writes: { _ in }),
            validationURLAudit: validationURLAudit, metrics: sessionMetrics, environment: parts.environment,
            clock: clock)
    }
}
