import KeyCustody
import Logging
import MerchantCore
import MerchantOperations
import MetricsKit
import PostgresStore
import ServiceLifecycle

/// The parts of a daemon on PostgreSQL. Unlike ``SQLiteBackend``, it does not check the files of the database, because
/// they belong to the server.
struct PostgresBackend: StoreBackend {
    let store: PostgresStore
    let claims: PostgresClaims
    let lease: NodeLease
    /// The caches are used only while this lease is valid. The setting `store.postgresql.serve-stale` says how much
    /// later than ``lease`` this lease ends.
    let cacheLease: Lease
    let leaderLease: Lease
    let keyring: Keyring
    let settings: Settings
    let lock: InstanceLock
    let backups: any BackupManaging
    private let drafts: BackupDrafts
    /// The file of a backup that an earlier run did not finish; nil if there is none.
    private let leftoverDraft: String?

    /// The leases of a daemon.
    struct Leases {
        let lease: NodeLease
        let cacheLease: Lease
        let leaderLease: Lease
    }

    init(
        _ store: PostgresStore, claims: PostgresClaims, _ leases: Leases, keyring: Keyring, settings: Settings,
        _ postgresql: PostgreSQLSettings, lock: InstanceLock, clock: any WallClock
    ) {
        self.store = store
        self.claims = claims
        (lease, cacheLease, leaderLease) = (leases.lease, leases.cacheLease, leases.leaderLease)
        self.keyring = keyring
        self.settings = settings
        self.lock = lock
        drafts = BackupDrafts(store, node: postgresql.node)
        leftoverDraft = drafts.leftover()
        backups = BackupService(
            source: PostgresBackupSource(connection: postgresql.connection, clock: clock), drafts: drafts,
            masterKey: settings.masterKey, clock: clock)
    }

    var ledger: any ClaimLedger & NonceLedger { claims }

    var metrics: [any MetricsSource] { [PostgresMetrics(store, claims: claims)] }

    /// None: each read ends within the time limits of the connection, and a restart of the daemon does not repair the
    /// server or the network. The daemon would only lose the keys that it has in memory.
    var livenessParts: [LivenessCheck.Part] { [] }

    var nodes: any NodeDirectory { PostgresNodes(store, lease.node) }

    var nodeKeys: any NodeKeyDirectory { PostgresNodes(store, lease.node) }

    /// Nothing: PostgreSQL's autovacuum removes the old rows of an erasure that was interrupted.
    func eraseIfDue() async throws {}

    func leases(_ parts: DaemonParts) -> [any Service] {
        [LeaseRenewal(lease: lease, keyring: keyring, logger: parts.logger)]
    }

    func checks(_ parts: DaemonParts) -> [any Service] {
        [
            Recurring(
                every: .seconds(86_400), mayBlock: true, with: leaderLease,
                PostgresAuditCheck(audit: parts.auditChainCheck)),
            Recurring(
                every: .seconds(2), mayBlock: true,
                PostgresRecovery(store: store, lease: lease, logger: parts.logger)),
            Recurring(every: .seconds(2), ClaimsRecovery(claims: claims, logger: parts.logger)),
            Recurring(
                every: .seconds(1), mayBlock: true,
                DataKeyLoading(
                    settings: settings.masterKey, store: store, keyring: keyring, nodes: nodeKeys,
                    masterKeys: Set(parts.rotation.masterKeysAtStart), logger: parts.logger)),
            Recurring(
                every: .seconds(3),
                ServerClockCheck(lease: lease, activeFindings: parts.activeFindings, logger: parts.logger)),
            Recurring(
                every: .seconds(1),
                StaleKeysCheck(
                    lease: lease, cacheLease: cacheLease, clock: parts.observedStore.clock,
                    activeFindings: parts.activeFindings, logger: parts.logger)),
        ]
    }

    func backupServices(_ parts: DaemonParts) -> [any Service] {
        backupServices(parts, leftover: leftoverDraft, drafts)
    }

    func finishOpening() {}

    func willServe() throws { try lock.markServing(masterKeyFrom: settings.masterKey.current) }

    func abandon() { claims.close() }

    func close() throws {
        claims.close()
        store.close()
    }
}

extension InstanceLock {
    /// Records the source that the setting `master-key` names. The daemon has loaded a key from this source.
    func markServing(masterKeyFrom source: MasterKeySource) throws {
        try update { $0.masterKeySource = source.description }
    }
}
