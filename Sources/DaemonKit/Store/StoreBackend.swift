import MerchantCore
import MerchantOperations
import MetricsKit
import ServiceLifecycle

/// The parts of the daemon that differ between SQLite and PostgreSQL. Everything else uses the ports of the store.
protocol StoreBackend: Sendable {
    /// Records which payment tokens and nonces were used.
    var ledger: any ClaimLedger & NonceLedger { get }
    /// Creates and verifies backups.
    var backups: any BackupManaging { get }
    var metrics: [any MetricsSource] { get }
    /// While this lease is valid, this daemon is the leader: it does the work that only one of the daemons on a
    /// database may do.
    var leaderLease: Lease { get }
    /// The parts that must respond, or else the watchdog makes systemd restart the daemon.
    var livenessParts: [LivenessCheck.Part] { get }

    /// Knows the other daemons on the database.
    var nodes: any NodeDirectory { get }
    /// Knows which keys the other daemons have.
    var nodeKeys: any NodeKeyDirectory { get }
    /// On SQLite, erases copies of destroyed keys, if an earlier erasure failed or was interrupted.
    func eraseIfDue() async throws
    /// The services that keep the leases of this daemon. They end after all services that need a lease.
    func leases(_ parts: DaemonParts) -> [any Service]
    /// The services that check and repair the store.
    func checks(_ parts: DaemonParts) -> [any Service]
    /// The services that create backups.
    func backupServices(_ parts: DaemonParts) -> [any Service]

    /// Waits until the parts of the store are open that are opened while the start continues. Call before
    /// ``StartRecord`` writes to the store, so that a start that fails here changes nothing.
    func finishOpening() throws
    /// Records in the lock file that the daemon uses the store. Call after ``StartRecord`` has decided that the daemon
    /// may serve, and before the servers accept requests.
    func willServe() throws
    /// Closes what this value has opened, after the daemon failed. Does not close the store.
    func abandon()
    /// Closes everything, including the store, after a clean shutdown.
    func close() throws
}

extension StoreBackend {
    /// The services for backups of this daemon.
    ///
    /// - Parameters:
    ///   - leftover: the file of a backup that an earlier run did not finish; nil if there is none.
    ///   - drafts: the drafts of ``backups``.
    func backupServices(_ parts: DaemonParts, leftover: String?, _ drafts: BackupDrafts) -> [any Service] {
        [
            BackupDraftRemoval(draft: leftover, drafts: drafts),
            Recurring(
                every: BackupSchedule.longestPause, mayBlock: true, wokenBy: parts.live.changes,
                BackupSchedule(
                    settings: parts.live.value { $0.backup }, lease: leaderLease, operations: parts.operations.backups,
                    confirmedTime: parts.observedStore.confirmedTime, caller: parts.caller,
                    clock: parts.observedStore.clock, startedAt: parts.startedAt, activeFindings: parts.activeFindings,
                    logger: parts.logger)),
        ]
    }
}
