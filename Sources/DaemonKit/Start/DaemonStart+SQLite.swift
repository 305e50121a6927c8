import Glibc
import MerchantCore
import MerchantOperations
import SQLiteStore

extension DaemonStart {
    /// Starts with the files in the state directory, and serves until a signal ends the daemon.
    func runOnSQLite() async throws {
        DiskReserve(directory: settings.stateDirectory).freeSpaceForStart()
        let observer = StartObserver(settings: settings)
        var observation = try observer.observeFiles(lock.previousContent)
        // Compares now, so that a refused start creates no master key and no database.
        if !observation.hasDatabaseContent {
            observation.auditComparison = try observer.compareMissingAudit(lock.previousContent)
        }
        try refuseUnsafeStart(observation)
        Restore.removeLeftovers(settings)
        try lock.markOpening()
        reportOpening()
        do {
            try createMasterKey(observation.masterKey)
            try await serve(observation)
        } catch {
            // If SQLite removed the write-ahead log when the database was closed, the next start must not expect a log.
            if lock.inodeIfReplaced == nil, access(settings.databasePath, F_OK) == 0, !observer.hasLog {
                try? lock.markClosed(settings)
            }
            // The same applies to the claims file, which this start may have opened and closed again.
            if observation.hasClaimsLog, !observer.hasClaimsLog { lock.markClaimsClosed(leavingLog: false) }
            throw error
        }
    }

    private func serve(_ observation: StartObservation) async throws {
        let clock = SystemClock()
        let database = try OpenedDatabase(path: settings.databasePath, clock: clock)
        let caches = StoreCaches(lease: .unlimited)
        let confirmedTime: ConfirmedTime
        do {
            confirmedTime = ConfirmedTime(
                clock: clock, last: try database.readOrClose { try ClockOperations.lastConfirmedTime(in: $0) })
        } catch {
            // If the database file was replaced while it was open, its write-ahead log does not belong to the new file.
            // With this entry in the lock file, the next start does not apply the log to the new file.
            if let openInode = database.checkForReplacement() { lock.markDatabaseReplaced(openInode) }
            throw error
        }
        // After each commit that adds audit records, the lock writes the newest audit head into the lock file. The next
        // start compares that head with the database and so detects an older copy.
        let store = SQLiteStore(
            database, clock: clock, observers: caches.observers(audit: lock), confirmedTime: confirmedTime)
        do {
            let observedStore = ObservedStore(
                store: store, clock: clock, confirmedTime: confirmedTime, caches: caches)
            let opened = try openKeyring(observedStore, observation)
            let backend = SQLiteBackend(store, settings: settings, lock: lock, clock: clock, logger: logger)
            try await serve(observedStore, backend, observation, opened)
        } catch {
            // The next start must know if the database file was moved or replaced while it was open.
            if let openInode = store.checkForReplacement() { lock.markDatabaseReplaced(openInode) }
            try? store.close()
            throw error
        }
    }
}
