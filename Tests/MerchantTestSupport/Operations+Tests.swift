package import MerchantCore
package import MerchantOperations
package import PaymentToken
package import Vocabulary

extension Operations {
    /// Builds every use case over a store, a custodian and a clock, with defaults for the other collaborators.
    package init(
        repository: any MerchantRepository, custodian: any KeyCustodian, claims: any ClaimLedger = MemoryClaimLedger(),
        clock: any WallClock, confirmedTime: ConfirmedTime? = nil, environment: Environment = .sandbox,
        tokenRoots: [TrustRoot]? = nil, rolls: RollPolicy = RollPolicy(), backups: BackupPolicy = BackupPolicy(),
        backupService: MemoryBackups? = nil, gateway: any RegistrationGateway = NotConfiguredGateway(),
        merchantTokenGateway: any MerchantTokenGateway = NotConfiguredGateway(),
        merchantTokens: MerchantTokenPolicy = MerchantTokenPolicy(),
        domainChecker: any DomainChecker = FakeDomainChecker(), webhooks: any WebhookTesting = NoWebhooks(),
        notifier: EventNotifier = EventNotifier(), nodes: any NodeDirectory = NoNodes(),
        provisioning: ProvisioningOperations.Ports? = nil,
        sessions: SessionOperations.Ports? = nil
    ) {
        self.init(
            Collaborators(
                store: repository, custodian: custodian, mpanCustodian: FakeMPANCustodian(), claims: claims,
                clock: clock, confirmedTime: confirmedTime, environment: environment,
                verifier: CurrentValue(
                    SignatureVerifier(environment: environment, trustRoots: tokenRoots ?? [.appleRootCAG3])),
                rollPolicy: CurrentValue(rolls), backupPolicy: CurrentValue(backups),
                backups: backupService ?? MemoryBackups(clock: clock), masterKey: FakeMasterKey(clock: clock),
                gateway: gateway, merchantTokenGateway: merchantTokenGateway, merchantTokenPolicy: merchantTokens,
                domainChecker: domainChecker, webhooks: webhooks, notifier: notifier, nodes: nodes,
                provisioning: provisioning,
                sessions: sessions))
    }
}
