import Logging
import MerchantCore
import MerchantOperations
import MetricsKit
import SQLiteStore
import ServiceLifecycle

/// The parts of a daemon on SQLite: everything that is about the files of the database and of the claims.
struct SQLiteBackend: StoreBackend {
    let store: SQLiteStore
    let claims: ClaimsFile
    let backups: any BackupManaging
    /// Opens the store's reading connections while the start continues.
    private let readers: ReaderOpening
    /// The file of a backup that an earlier run did not finish; nil if there is none.
    private let leftoverDraft: String?
    private let drafts: BackupDrafts
    private let settings: Settings
    private let lock: InstanceLock

    init(_ store: SQLiteStore, settings: Settings, lock: InstanceLock, clock: some WallClock, logger: Logger) {
        self.store = store
        self.settings = settings
        self.lock = lock
        drafts = BackupDrafts(store)
        leftoverDraft = drafts.leftover()
        // After the read for `leftoverDraft`, which would have to wait.
        readers = store.openReaders()
        claims = ClaimsFile(path: settings.claimsPath, clock: clock, lock: lock)
        backups = BackupService(source: store, drafts: drafts, masterKey: settings.masterKey, clock: clock)
    }

    var ledger: any ClaimLedger & NonceLedger { claims }

    var leaderLease: Lease { .unlimited }

    var nodes: any NodeDirectory { NoNodes() }

    var nodeKeys: any NodeKeyDirectory { NoNodes() }

    var metrics: [any MetricsSource] { [StoreMetrics(store) { [claims] in claims.store }] }

    var livenessParts: [LivenessCheck.Part] { [LivenessCheck.Part("database", ask: StoreProbe(store: store).ask)] }

    func eraseIfDue() async throws { try await store.eraseCopiesOfDestroyedSecretsIfDue() }

    func leases(_ parts: DaemonParts) -> [any Service] { [] }

    func checks(_ parts: DaemonParts) -> [any Service] {
        [
            Recurring(
                every: .seconds(86_400), mayBlock: true,
                DatabaseCheck(
                    store: store, audit: parts.auditChainCheck, integrity: parts.operations.integrity,
                    activeFindings: parts.activeFindings, logger: parts.logger)),
            Recurring(
                every: .seconds(2), mayBlock: true,
                StoreRecovery(
                    store: store, lock: lock, reserve: DiskReserve(directory: settings.stateDirectory),
                    servers: parts.lifecycle.servers, activeFindings: parts.activeFindings, logger: parts.logger)),
            Recurring(every: .seconds(2), ClaimsRecovery(claims: claims, logger: parts.logger)),
            Recurring(
                every: ClaimsOpening.interval, mayBlock: true,
                ClaimsOpening(claims: claims, lock: lock, settings: settings, logger: parts.logger)),
        ]
    }

    func backupServices(_ parts: DaemonParts) -> [any Service] {
        backupServices(parts, leftover: leftoverDraft, drafts)
    }
}

// MARK: - The lock file, which records the state of the files for the next start

extension SQLiteBackend {
    func finishOpening() throws { try store.wait(for: readers) }

    func willServe() throws {
        try lock.markOpen(masterKeyFrom: settings.masterKey.current, claims: claims.store)
    }

    func abandon() {
        try? store.wait(for: readers)
        try? closeClaims()
    }

    func close() throws {
        try closeClaims()
        if let openInode = store.checkForReplacement() {
            // The write-ahead log belongs to the file that was moved. So the inode of that file is stored in the
            // lock file, and the next start does not apply the log to another file.
            lock.markDatabaseReplaced(openInode)
            return try store.close()
        }
        lock.markClosing()
        try store.close()
        try lock.markClosed(settings)
        // Closing the database removed its shared memory file. The freed space is reserved for the next start.
        DiskReserve(directory: settings.stateDirectory).fill()
    }

    private func closeClaims() throws {
        guard let store = claims.store else { return }
        try store.close()
        lock.markClaimsClosed(leavingLog: StartObserver(settings: settings).hasClaimsLog)
    }
}

extension InstanceLock {
    /// Records that the database was closed, and whether SQLite left a write-ahead log.
    func markClosed(_ settings: Settings) throws {
        // SQLite does not sync the directory after it removes the log. Without this sync, the old log could exist again
        // after a power failure, and the next start would be refused.
        try StableStorage.sync(settings.stateDirectory)
        try markClosed(leavingLog: StartObserver(settings: settings).hasLog)
    }
}
