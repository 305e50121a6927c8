import AppleGateway
import EventDelivery
import Glibc
import HTTPKit
import KeyCustody
import LocalHooks
import Logging
import MerchantCore
import MerchantOperations
import MetricsKit
import PaymentToken
import PortalServer
import Vocabulary
import WireAPI

/// The objects that the daemon's services share. This is the composition root, which creates the objects and connects
/// them.
struct DaemonParts {
    /// The settings with which the daemon started. ``live`` has the present values of the settings that a reload can
    /// change.
    let settings: Settings
    let live: LiveSettings
    let reload: Reload
    let sockets: DaemonSockets
    let lifecycle: Lifecycle
    let observedStore: ObservedStore
    let backend: any StoreBackend
    let lock: InstanceLock
    let outbound: OutboundParts
    let rotation: MasterKeyRotation
    let operations: Operations
    let daemonHealth: DaemonHealth
    let activeFindings: ActiveFindings
    /// nil if the settings define no portal.
    let portal: PortalParts?
    /// nil if the settings define no portal.
    let portalServer: PortalServer?
    let requestMetrics = RequestMetrics()
    let accessLog: AccessLog
    /// The caller in audit records of actions that the daemon performs by itself.
    let caller = Caller.daemon(uid: geteuid(), gid: getegid(), pid: getpid())
    let startedAt: Timestamp
    let logger: Logger

    init(
        _ prepared: PreparedStart, _ live: LiveSettings, _ observedStore: ObservedStore, _ backend: any StoreBackend,
        _ opened: MasterKeys.Opened, lock: InstanceLock, lifecycle: Lifecycle, logger: Logger
    ) throws {
        let (settings, files) = (prepared.settings, prepared.files)
        let (store, clock, caches) = (observedStore.store, observedStore.clock, observedStore.caches)
        self.backend = backend
        self.settings = settings
        self.live = live
        sockets = prepared.sockets
        self.lifecycle = lifecycle
        self.observedStore = observedStore
        self.lock = lock
        self.logger = logger
        accessLog = AccessLog(logger) { live.logsRequests }
        startedAt = clock.now
        let activeFindings = ActiveFindings()
        self.activeFindings = activeFindings
        portal = try PortalParts(settings, clock: clock, activeFindings: activeFindings, logger: logger)
        let custody = KeyCustody(
            keyring: opened.keyring, certificateIssuers: live.value { $0.certificateIssuers },
            cache: caches.unsealedKeys, reading: store)
        outbound = try OutboundParts(
            settings, files, store: observedStore, custody: custody, clock: clock, logger: logger)
        rotation = MasterKeyRotation(
            settings.masterKey, store: store, opened: opened, daemonAsCaller: caller,
            nodes: backend.nodeKeys, lease: backend.leaderLease, clock: clock, activeFindings: activeFindings,
            logger: logger)
        let daemonHealth = DaemonHealth(store: store, activeFindings: activeFindings)
        self.daemonHealth = daemonHealth
        operations = Operations(
            Operations.Collaborators(
                store: store, custodian: custody, mpanCustodian: custody, claims: backend.ledger, clock: clock,
                confirmedTime: observedStore.confirmedTime, environment: settings.environment,
                verifier: live.value { $0.verifier }, rollPolicy: live.value { $0.rolls },
                backupPolicy: live.value { $0.backupPolicy },
                backups: backend.backups, masterKey: rotation,
                conditions: { daemonHealth.findings }, gateway: outbound.gateway,
                merchantTokenGateway: outbound.gateway,
                merchantTokenPolicy: settings.merchantTokens.policy, domainChecker: outbound.domainChecker,
                webhooks: WebhookTester(live.value { $0.webhooks }), notifier: caches.notifier,
                nodes: backend.nodes, provisioning: Self.provisioning(live, nonces: backend.ledger),
                sessions: Self.sessions(live, gateway: outbound.gateway, logger: logger),
                usageInformation: Self.usageInformation(settings, files)))
        if operations.provisioning != nil { lifecycle.servers.expect(.issuer) }
        reload = Reload(
            prepared, live, recording: operations.settingsRecording, certificates: portal?.certificates,
            activeFindings: activeFindings, notifier: lifecycle.systemd.notifier, logger: logger)
        portalServer = try portal?.server(
            settings, policy: live.value { $0.callers }, operations: operations,
            health: { [monitoring = operations.monitoring] in HealthDocument(of: daemonHealth, monitoring) },
            requests: requestMetrics, accessLog: accessLog, clock: clock, logger: logger)
    }

    /// - Returns: nil if the settings define no in-app provisioning.
    private static func provisioning(
        _ live: LiveSettings, nonces: any NonceLedger
    ) -> ProvisioningOperations.Ports? {
        guard let settingsAtStart = live.current.provisioning else { return nil }
        return ProvisioningOperations.Ports(
            // Never nil here: if the section `provisioning` is removed, a reload only disables in-app provisioning.
            policy: live.value { $0.provisioning?.policy ?? settingsAtStart.disabled.policy }, nonces: nonces,
            activation: ActivationHook(live.value { $0.provisioning?.activation }))
    }

    /// - Returns: nil if the settings name no hook for usage information.
    private static func usageInformation(
        _ settings: Settings, _ files: ReferencedFiles
    ) -> UsageInformationOperations.Ports? {
        guard let hook = settings.merchantTokens.usageInformation, let key = files.usageInformationKey else {
            return nil
        }
        return UsageInformationOperations.Ports(
            source: UsageInformationHook(hook.endpoint, within: hook.timeLimit)
        ) { (content, token, publicKey) throws(PaymentTokenError) in
            try key.encrypt(content, for: token, publicKey: publicKey)
        }
    }

    private static func sessions(
        _ live: LiveSettings, gateway: any SessionGateway, logger: Logger
    ) -> SessionOperations.Ports {
        let log = LimitedLog(logger)
        return SessionOperations.Ports(gateway: gateway, policy: live.value { $0.sessions }) { unregistered in
            log.write(
                .warning, "merchant session requested for a domain that is not registered",
                source: unregistered.caller,
                metadata: [
                    "domain": "\(unregistered.domain)", "merchant": "\(unregistered.merchantIdentifier)",
                    "caller": "\(unregistered.caller)",
                ])
        }
    }

    /// The parts of the daemon that keep counters in memory, except the counters of the servers' requests.
    var metricsSources: [any MetricsSource] {
        [
            observedStore.caches.keyResponses, operations.tokenMetrics, operations.provisioningMetrics,
            operations.sessionMetrics, operations.merchantTokenMetrics, outbound.gateway.metrics,
        ] + backend.metrics
    }

    var auditChainCheck: AuditChainCheck {
        AuditChainCheck(operations: operations.audit, activeFindings: activeFindings, logger: logger)
    }

    /// A closure that determines the daemon's health for a response of the health route.
    var health: @Sendable () -> HealthDocument {
        { [daemonHealth, monitoring = operations.monitoring] in HealthDocument(of: daemonHealth, monitoring) }
    }
}

extension KeyCustody {
    /// Reads key pairs and their sealed private keys from the store.
    fileprivate convenience init(
        keyring: Keyring, certificateIssuers: CurrentValue<CertificateIssuers?>, cache: UnsealedKeyCache,
        reading store: any MerchantRepository
    ) {
        self.init(keyring: keyring, certificateIssuers: certificateIssuers, cache: cache) { hash in
            try store.readNow { reading in
                guard let keyPair = try reading.keyPair(hash) else { return nil }
                // A destroyed key pair has no sealed private key. An empty key is enough, because KeyCustody refuses
                // the destroyed key pair before it unseals the key.
                let sealed = try reading.sealedPrivateKey(of: hash)
                return SealedKeyPair(
                    keyPair: keyPair,
                    sealedPrivateKey: sealed ?? SealedPrivateKey(version: 1, dataKeyIdentifier: 1, bytes: []))
            }
        }
    }
}
