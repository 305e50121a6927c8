import Glibc
import HTTPKit
import KeyCustody
import Logging
import MerchantCore
import MerchantOperations
import PaymentToken
import Vocabulary
import WireAPI

/// The objects that the daemon's services share. This is the composition root: only this type creates all parts and
/// connects them.
struct DaemonParts {
    let settings: Settings
    let observed: ObservedStore
    let lock: InstanceLock
    let claims: ClaimsFile
    let outward: GatewayParts
    let rotation: MasterKeyRotation
    let operations: Operations
    let storeHealth: DaemonHealth
    let conditions = ConditionLog()
    let requests = RequestMetrics()
    /// The daemon itself, as the caller in audit records of its own actions.
    let caller = Caller.daemon(uid: geteuid(), gid: getegid(), pid: getpid())
    let startedAt: Timestamp
    let logger: Logger

    init(
        _ settings: Settings, _ files: ReferencedFiles, _ observed: ObservedStore, _ keyring: Keyring,
        lock: InstanceLock, logger: Logger
    ) throws {
        let (store, clock) = (observed.store, observed.clock)
        self.settings = settings
        self.observed = observed
        self.lock = lock
        self.logger = logger
        startedAt = clock.now
        let custody = KeyCustody(
            keyring: keyring, certificateIssuers: files.certificateIssuers, cache: observed.unsealedKeys,
            reading: store)
        claims = ClaimsFile(path: settings.claimsPath, clock: clock, logger: logger)
        outward = try GatewayParts(settings, files, store: store, custody: custody, clock: clock, logger: logger)
        rotation = MasterKeyRotation(
            settings.masterKey, store: store, keyring: keyring, caller: caller, clock: clock, conditions: conditions,
            logger: logger)
        let storeHealth = DaemonHealth(store: store, conditions: conditions)
        self.storeHealth = storeHealth
        operations = Operations(
            Operations.Collaborators(
                store: store, custodian: custody, claims: claims.ledger, clock: clock,
                confirmedTime: observed.confirmedTime, environment: settings.environment,
                tokenRoots: files.tokenRoots, rolls: settings.rolls,
                backups: BackupService(store: store, masterKey: settings.masterKey, clock: clock), masterKey: rotation,
                conditions: { storeHealth.findings }, gateway: outward.gateway, domainChecker: outward.domainChecker,
                notifier: observed.notifier))
    }

    /// Reads the health of the daemon for a response.
    var health: @Sendable () -> HealthDocument {
        { [storeHealth, monitoring = operations.monitoring] in HealthDocument(of: storeHealth, monitoring) }
    }
}

extension KeyCustody {
    /// Reads key pairs and their sealed private keys from the store.
    fileprivate convenience init(
        keyring: Keyring, certificateIssuers: CertificateIssuers?, cache: UnsealedKeyCache,
        reading store: any MerchantRepository
    ) {
        self.init(keyring: keyring, certificateIssuers: certificateIssuers, cache: cache) { hash in
            try store.readNow { reading in
                guard let keyPair = try reading.keyPair(hash) else { return nil }
                // A destroyed key pair has no sealed private key; one without bytes stands for it.
                let sealed = try reading.sealedPrivateKey(of: hash)
                return SealedKeyPair(
                    keyPair: keyPair,
                    sealedPrivateKey: sealed ?? SealedPrivateKey(version: 1, dataKeyIdentifier: 1, bytes: []))
            }
        }
    }
}
