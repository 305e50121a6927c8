import Glibc
import KeyCustody
import Logging
import MerchantCore
import MerchantOperations
import SQLiteStore
import ServiceLifecycle
import UnixSignals
import Vocabulary

/// Starts the daemon, runs its services, and shuts it down.
enum Daemon {
    /// The longest time that systemd waits while the daemon reads the master key and opens the database. The command
    /// that prints the master key may take minutes, and so may the migration of a large database.
    private static let longestOpening = Duration.seconds(900)

    /// Runs the daemon until SIGTERM, SIGINT or SIGQUIT.
    ///
    /// - Parameters:
    ///   - live: begins with the settings of `prepared`.
    ///   - acceptsOlderDatabase: whether the daemon starts even if the database lacks changes that the daemon has
    ///     acknowledged.
    /// - Throws: ``StartRefusal``, ``SettingsError`` or `MerchantError`.
    static func run(
        _ prepared: PreparedStart, _ live: LiveSettings, acceptsOlderDatabase: Bool, lifecycle: Lifecycle,
        logger: Logger
    ) async throws {
        let settings = prepared.settings
        for warning in prepared.warnings {
            logger.warning("a setting does not work", metadata: ["problem": "\(warning)"])
        }
        for failure in ProcessProtection.apply() {
            logger.warning(
                "other programs may be able to read the process's memory", metadata: ["failure": "\(failure)"])
        }
        try StateDirectory.prepare(settings.stateDirectory)
        let lock = try InstanceLock(path: settings.lockPath)
        try prepared.sockets.requireFree()
        DiskReserve(directory: settings.stateDirectory).freeSpaceForStart()
        let observer = StartObserver(settings: settings)
        let observation = try observer.observeFiles(lock.previousContent)
        let (losses, warnings) = try StartDecision(on: observation, acceptsOlderDatabase: acceptsOlderDatabase)
            .findingsUnlessRefused()
        for warning in warnings { warning.log(logger) }
        Restore.removeLeftovers(settings)
        // Opening the database creates a write-ahead log, so the files no longer show a loss afterwards. If this start
        // fails before it records the loss in the audit, the next start finds the loss in the lock file.
        try lock.storeAcceptedLosses(losses.map(\.problem))
        try lock.markOpening()

        lifecycle.systemd.notifier.send(
            .starting(status: "reading the master key and opening the database", longest: longestOpening))
        do {
            try createMasterKey(observation.masterKey, settings, logger: logger)
            let observedStore = try ObservedStore(path: settings.databasePath, clock: SystemClock(), lock: lock)
            do {
                try await serve(
                    prepared, live, observedStore, observation, acceptsOlderDatabase: acceptsOlderDatabase, lock,
                    lifecycle, logger)
            } catch {
                // The next start must know if the database file was moved or replaced while it was open.
                if let openInode = observedStore.store.checkForReplacement() { lock.markDatabaseReplaced(openInode) }
                try? observedStore.store.close()
                throw error
            }
        } catch {
            // If SQLite removed the write-ahead log when the database was closed, the next start must not expect a log.
            if lock.inodeIfReplaced == nil, access(settings.databasePath, F_OK) == 0, !observer.hasLog {
                try? markClosed(settings, lock)
            }
            // The same for the claims file, which this start may have opened and closed again.
            if observation.hasClaimsLog, !observer.hasClaimsLog { lock.markClaimsClosed(leavingLog: false) }
            throw error
        }
        // Without this, Swift could release the lock after its last use, before the daemon has stopped.
        withExtendedLifetime(lock) { logger.info("merchantkeyd ended") }
    }

    private static func serve(
        _ prepared: PreparedStart, _ live: LiveSettings, _ observedStore: ObservedStore,
        _ observation: StartObservation, acceptsOlderDatabase: Bool, _ lock: InstanceLock, _ lifecycle: Lifecycle,
        _ logger: Logger
    ) async throws {
        let settings = prepared.settings
        let opened = try openKeyring(settings, observedStore, observation, logger: logger)
        let backupDraft = await observedStore.store.backupDraft()
        let parts = try DaemonParts(
            prepared, live, observedStore, opened, lock: lock, lifecycle: lifecycle, logger: logger)
        do {
            let startRecord = StartRecord(
                operations: parts.operations.start, audit: parts.operations.audit,
                deliveries: parts.operations.deliveries, settings: settings, live: live, observation: observation,
                lock: lock,
                caller: parts.caller, activeFindings: parts.activeFindings, logger: logger)
            // Decides again, because only the open database shows whether audit records are missing.
            try await startRecord.decideAndWrite(acceptsOlderDatabase: acceptsOlderDatabase)
            try lock.markOpen(masterKeyFrom: settings.masterKey.current, hasClaims: parts.claims.store != nil)
            let group = ServiceGroup(
                configuration: ServiceGroupConfiguration(
                    services: DaemonServices(parts: parts, startRecord: startRecord, backupDraft: backupDraft).all
                        .map { .init(service: NamedService(service: $0)) },
                    gracefulShutdownSignals: [.sigterm, .sigint, .sigquit], logger: logger
                ).limitingShutdown(by: ShutdownLimit(logger: logger)))
            logger.info("merchantkeyd starts", metadata: Self.startFields(settings))
            try await group.run()
        } catch {
            await parts.outbound.shutdown()
            try? close(parts.claims, settings, lock)
            throw error
        }
        await parts.outbound.shutdown()
        try close(parts.claims, settings, lock)
        try close(observedStore.store, settings, lock)
    }

    private static func startFields(_ settings: Settings) -> Logger.Metadata {
        var fields: Logger.Metadata = [
            "version": "\(Program.version)", "environment": "\(settings.environment.rawValue)",
            "adminSocket": "\(settings.adminSocket.path)", "decryptorSocket": "\(settings.decryptorSocket.path)",
        ]
        if settings.provisioning != nil { fields["issuerSocket"] = "\(settings.issuerSocket.path)" }
        return fields
    }

    private static func close(_ store: SQLiteStore, _ settings: Settings, _ lock: InstanceLock) throws {
        if let openInode = store.checkForReplacement() {
            // The write-ahead log belongs to the file that was moved. So the inode of that file is stored in the
            // lock file, and the next start does not apply the log to another file.
            lock.markDatabaseReplaced(openInode)
            return try store.close()
        }
        lock.markClosing()
        try store.close()
        try markClosed(settings, lock)
        // Closing the database removed its shared memory file. The freed space is reserved for the next start.
        DiskReserve(directory: settings.stateDirectory).fill()
    }

    private static func close(_ claims: ClaimsFile, _ settings: Settings, _ lock: InstanceLock) throws {
        guard let store = claims.store else { return }
        try store.close()
        lock.markClaimsClosed(leavingLog: StartObserver(settings: settings).hasClaimsLog)
    }

    private static func markClosed(_ settings: Settings, _ lock: InstanceLock) throws {
        // SQLite does not sync the directory after it removes the log. Without this sync, the old log could exist again
        // after a power failure, and the next start would be refused.
        try StableStorage.sync(settings.stateDirectory)
        try lock.markClosed(leavingLog: StartObserver(settings: settings).hasLog)
    }
}

// MARK: - The master key

extension Daemon {
    /// Creates the master key file for a new database. If a database exists but its master key file is missing,
    /// ``StartDecision`` has already refused the start.
    private static func createMasterKey(
        _ masterKey: StartObservation.MasterKey, _ settings: Settings, logger: Logger
    ) throws {
        guard case .file(let path, exists: false) = masterKey else { return }
        _ = try MasterKey.create(at: path)
        logger.notice("created a new master key: save a copy elsewhere now", metadata: ["path": "\(path)"])
        if path.hasPrefix("\(settings.stateDirectory)/") {
            logger.warning(
                "the master key is in the same directory as the database that it protects: a copy of the directory contains both; set 'master-key.file' to a path outside this directory",
                metadata: ["path": "\(path)"])
        }
    }

    private static func openKeyring(
        _ settings: Settings, _ observedStore: ObservedStore, _ observation: StartObservation, logger: Logger
    ) throws -> MasterKeys.Opened {
        let opened: MasterKeys.Opened
        do {
            opened = try MasterKeys(settings.masterKey).open(observedStore.store, at: observedStore.clock.now)
        } catch let error as MerchantError where error.code == .masterKeyConflict {
            // Decides again with this finding, so that the error is a StartRefusal, which names the finding's code.
            // Other losses were accepted before, so only this finding can refuse the start here.
            var observation = observation
            observation.masterKey = .rejected(error.detail)
            _ = try StartDecision(on: observation, acceptsOlderDatabase: true).findingsUnlessRefused()
            throw error
        }
        opened.keyring.warnUnlessLocked(logger)
        return opened
    }
}
