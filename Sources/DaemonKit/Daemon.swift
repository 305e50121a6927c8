import Glibc
import KeyCustody
package import Logging
import MerchantCore
import MerchantOperations
import SQLiteStore
import ServiceLifecycle
import UnixSignals
import Vocabulary

/// Starts the daemon, runs its services, and shuts it down.
package enum Daemon {
    /// Opens the state directory, lock, master key, database and sockets, and serves until SIGTERM or SIGINT.
    ///
    /// - Parameter acceptsOlder: whether to start with a database that lacks changes that it once contained.
    /// - Throws: ``StartRefusal``, ``SettingsError`` or `MerchantError`.
    package static func run(_ settings: Settings, acceptsOlder: Bool = false, logger: Logger) async throws {
        for failure in ProcessProtection.apply() {
            logger.warning("the process's memory is not fully protected", metadata: ["failure": "\(failure)"])
        }
        try StateDirectory.prepare(settings.stateDirectory)
        let lock = try InstanceLock(path: settings.lockPath)
        DiskReserve(directory: settings.stateDirectory).release()
        let observer = StartObserver(settings: settings)
        let observation = try observer.files(lock.found)
        let (losses, warnings) = try StartDecision(on: observation, acceptsOlderDatabase: acceptsOlder).orRefusal()
        for warning in warnings { warning.log(logger) }
        Restore.removeLeftovers(settings)
        // Opening the database creates a log, so the files no longer show a loss afterwards. If this start fails before
        // it records the loss in the audit, the next start finds the loss in the lock file.
        try lock.keep(losses.map(\.fact))
        try lock.markOpening()

        do {
            try createMasterKey(observation.masterKey, settings, logger: logger)
            let store = try ObservedStore(path: settings.databasePath, clock: SystemClock(), lock: lock)
            do {
                try await serve(settings, store, observation, acceptsOlder: acceptsOlder, lock, logger)
            } catch {
                if let inode = store.store.checkPlace() { lock.markReplaced(inode) }
                try? store.store.close()
                throw error
            }
        } catch {
            // Closing the last connection removed the log, so the next start must not expect one.
            if lock.replacedInode == nil, access(settings.databasePath, F_OK) == 0, !observer.hasLog {
                try? markClosed(settings, lock)
            }
            throw error
        }
        withExtendedLifetime(lock) { logger.info("merchantkeyd ended") }
    }

    private static func serve(
        _ settings: Settings, _ store: ObservedStore, _ observation: StartObservation, acceptsOlder: Bool,
        _ lock: InstanceLock, _ logger: Logger
    ) async throws {
        let files = try ReferencedFiles(reading: settings)
        let keyring = try openKeyring(settings, store, observation, logger: logger)
        let backupDraft = await store.store.backupDraft()
        let parts = try DaemonParts(settings, files, store, keyring, lock: lock, logger: logger)
        do {
            let start = StartRecord(
                operations: parts.operations.start, audit: parts.operations.audit,
                deliveries: parts.operations.deliveries, settings: settings, observation: observation, lock: lock,
                caller: parts.caller, conditions: parts.conditions, logger: logger)
            try await start.decideAndWrite(acceptsOlder: acceptsOlder)
            try lock.markOpen()
            let group = ServiceGroup(
                configuration: ServiceGroupConfiguration(
                    services: DaemonServices(parts: parts, start: start, backupDraft: backupDraft).all
                        .map { .init(service: $0) },
                    gracefulShutdownSignals: [.sigterm, .sigint], logger: logger
                ).bounded(by: ShutdownLimit(logger: logger)))
            logger.info(
                "merchantkeyd starts",
                metadata: [
                    "version": "\(Program.version)", "environment": "\(settings.environment.rawValue)",
                    "adminSocket": "\(settings.adminSocket.path)",
                    "decryptorSocket": "\(settings.decryptorSocket.path)",
                ])
            try await group.run()
        } catch {
            await parts.outward.shutdown()
            throw error
        }
        await parts.outward.shutdown()
        try parts.claims.close()
        try close(store.store, settings, lock)
    }

    private static func close(_ store: SQLiteStore, _ settings: Settings, _ lock: InstanceLock) throws {
        if let inode = store.checkPlace() {
            // The log belongs to the file that was moved. So the lock file keeps that file's inode and is not marked as
            // closed.
            lock.markReplaced(inode)
            return try store.close()
        }
        lock.markClosing()
        try store.close()
        try markClosed(settings, lock)
        // The close removed the shared memory file. Its space is reserved for the next start.
        DiskReserve(directory: settings.stateDirectory).keep()
    }

    private static func markClosed(_ settings: Settings, _ lock: InstanceLock) throws {
        // SQLite does not sync the directory after it removes the log. Without this sync, a power failure could bring
        // the old log back, and the next start would refuse it.
        try Durable.sync(settings.stateDirectory)
        try lock.markClosed(leavingLog: StartObserver(settings: settings).hasLog)
    }
}

// MARK: - The master key

extension Daemon {
    /// Creates the master key file for a new database. If a database exists but its master key file is missing,
    /// ``StartDecision`` has already refused the start.
    private static func createMasterKey(
        _ observed: StartObservation.MasterKey, _ settings: Settings, logger: Logger
    ) throws {
        guard case .file(let path, exists: false) = observed else { return }
        _ = try MasterKey.create(at: path)
        logger.notice("created a new master key: save a copy elsewhere now", metadata: ["path": "\(path)"])
        if path.hasPrefix("\(settings.stateDirectory)/") {
            logger.warning(
                "the master key is in the same directory as the database that it protects: a copy of the directory contains both; set 'master-key.file' to a path outside it",
                metadata: ["path": "\(path)"])
        }
    }

    private static func openKeyring(
        _ settings: Settings, _ store: ObservedStore, _ observation: StartObservation, logger: Logger
    ) throws -> Keyring {
        let keyring: Keyring
        do {
            keyring = try MasterKeys(settings.masterKey).keyring(opening: store.store, at: store.clock.now)
        } catch let error as MerchantError where error.code == .masterKeyConflict {
            // Throws a StartRefusal with a code, as for every other finding.
            var observation = observation
            observation.masterKey = .rejected(error.detail)
            _ = try StartDecision(on: observation, acceptsOlderDatabase: true).orRefusal()
            throw error
        }
        if !keyring.isLockedInMemory {
            logger.warning(
                "master key and data keys may be written to swap: raise the limit on locked memory (LimitMEMLOCK), or disable swap"
            )
        }
        return keyring
    }
}
