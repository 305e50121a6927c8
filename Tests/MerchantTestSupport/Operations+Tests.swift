package import MerchantCore
package import MerchantOperations
package import PaymentToken
package import Vocabulary

extension Operations {
    /// Builds every use case over a store, with defaults for the other collaborators.
    package init(
        repository: any MerchantRepository, custodian: any KeyCustodian, claims: any ClaimLedger = MemoryClaimLedger(),
        clock: any WallClock, confirmedTime: ConfirmedTime? = nil, environment: Environment = .sandbox,
        tokenRoots: [TrustRoot]? = nil, rolls: RollPolicy = RollPolicy(), backups: BackupPolicy = BackupPolicy(),
        gateway: any RegistrationGateway = NotConfiguredGateway(),
        domainChecker: any DomainChecker = FakeDomainChecker(),
        notifier: EventNotifier = EventNotifier()
    ) {
        self.init(
            Collaborators(
                store: repository, custodian: custodian, claims: claims, clock: clock, confirmedTime: confirmedTime,
                environment: environment, tokenRoots: tokenRoots, rollPolicy: rolls, backupPolicy: backups,
                backups: MemoryBackups(clock: clock), masterKey: FakeMasterKey(clock: clock), gateway: gateway,
                domainChecker: domainChecker, notifier: notifier))
    }
}
