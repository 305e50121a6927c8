import AdminServer
import DecryptorServer
import EventDelivery
import FoundationEssentials
import Glibc
import HTTPKit
import KeyCustody
package import Logging
import MerchantCore
import MerchantOperations
import SQLiteStore
import PaymentToken
import Schema
import ServiceLifecycle
import UnixSignals
import Vocabulary
import WireAPI

/// The composition root: the one place that knows every part and connects them.
package enum Daemon {
    /// Opens the state directory, lock, master key, database and sockets, and serves until SIGTERM or SIGINT.
    ///
    /// - Parameter acceptsOlder: whether to start with a database that lacks changes it once held.
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
        // Opening the database creates a log, which hides the loss: if this start fails before its record, the next one finds
        // the loss in the lock file.
        try lock.keep(losses.map(\.fact))
        try lock.markOpening()

        do {
            try createMasterKey(observation.masterKey, settings, logger: logger)
            let clock = SystemClock()
            let store = try SQLiteStore.open(path: settings.databasePath, clock: clock)
            do {
                try await serve(
                    settings, store, observation, acceptsOlder: acceptsOlder, clock: clock, lock: lock, logger: logger)
            } catch {
                if let replaced = store.checkPlace() { lock.markReplaced(replaced) }
                try? store.close()
                throw error
            }
        } catch {
            // Closing the last connection removes the log: the next start must not expect one.
            if lock.replaced == nil, access(settings.databasePath, F_OK) == 0, !observer.hasLog {
                try? markClosed(settings, lock)
            }
            throw error
        }
        withExtendedLifetime(lock) { logger.info("merchantkeyd ended") }
    }

    private static func serve(
        _ settings: Settings, _ store: SQLiteStore, _ observation: StartObservation, acceptsOlder: Bool,
        clock: SystemClock, lock: InstanceLock, logger: Logger
    ) async throws {
        let startedAt = clock.now
        let files = try ReferencedFiles(reading: settings)
        let (keyring, custody) = try openKeys(settings, files, store, observation, clock: clock, logger: logger)
        let draft = await store.backupDraft()
        let claims = ClaimsFile(path: settings.claimsPath, clock: clock, logger: logger)
        let outward = try GatewayParts(settings, files, store: store, custody: custody, clock: clock, logger: logger)
        let keyResponses = KeyResponseCache()
        store.setObservers([custody, keyResponses])
        let conditions = ConditionLog()
        let storeHealth = DaemonHealth(store: store, conditions: conditions)
        let daemonCaller = Caller.daemon(uid: geteuid(), gid: getegid(), pid: getpid())
        let rotation = MasterKeyRotation(
            settings.masterKey, store: store, keyring: keyring, caller: daemonCaller, clock: clock,
            conditions: conditions, logger: logger)
        let confirmedTime = ConfirmedTime(
            clock: clock, last: try store.readNow { try ClockOperations.lastConfirmedTime(in: $0) })
        store.setConfirmedTime(confirmedTime)
        var parts = Operations.Collaborators(
            store: store, custodian: custody, claims: claims.ledger, clock: clock, confirmedTime: confirmedTime,
            environment: settings.environment)
        if let roots = files.tokenRoots { parts.tokenRoots = roots }
        parts.rolls = settings.rolls
        parts.backups = BackupService(store: store, masterKey: settings.masterKey, clock: clock)
        parts.masterKey = rotation
        parts.conditions = { storeHealth.findings }
        parts.gateway = outward.gateway
        parts.domainChecker = outward.domainChecker
        let operations = Operations(parts)
        let health: @Sendable () -> HealthDocument = { HealthDocument(of: storeHealth, operations.monitoring) }
        store.setEventObserver(operations.notifier)
        store.setAuditObserver(lock)
        let start = StartRecord(
            operations: operations, settings: settings, observation: observation, lock: lock, caller: daemonCaller,
            conditions: conditions, logger: logger)
        do {
            try await start.decideAndWrite(acceptsOlder: acceptsOlder)
            try lock.markOpen()
        } catch {
            await outward.shutdown()
            throw error
        }

        let requests = RequestMetrics()
        let decryptorServer = DecryptorServer(
            socketPath: settings.decryptorSocket.path, socketMode: settings.decryptorSocket.mode,
            operations: operations.paymentTokens, refusals: operations.refusals, integrity: operations.integrity,
            policy: settings.policy, health: health, responses: keyResponses, requests: requests, logger: logger)
        let adminServer = AdminServer(
            socketPath: settings.adminSocket.path, socketMode: settings.adminSocket.mode,
            operations: AdminOperations(from: operations),
            policy: settings.policy, health: health, version: Program.version, startedAt: startedAt,
            openAPI: Schema.openAPI, requests: requests, logger: logger)
        // Shut down last to first: what the last requests of the servers leave behind is stored after them.
        var services: [any Service] = [
            Recurring(
                every: .seconds(10), ClockCheck(operations: operations.clock, conditions: conditions, logger: logger)),
            Recurring(
                every: .seconds(3), start: .afterOneInterval,
                KeyUseStorage(operations: operations.keyUses, caller: daemonCaller, logger: logger)),
            Recurring(
                every: RefusalRecording.shortestPause, start: .afterOneInterval,
                RefusalRecording(operations: operations.refusalAudit, caller: daemonCaller, logger: logger)),
            Recurring(
                every: .seconds(60),
                KeyDestruction(
                    operations: operations.transitions, caller: daemonCaller,
                    eraseIfDue: { try await store.eraseRemovedBytesIfDue() }, logger: logger)),
            Recurring(
                every: .seconds(60), RollSchedule(operations: operations.renewals, caller: daemonCaller, logger: logger)
            ),
            Recurring(
                every: .seconds(15),
                RegistrationResolver(operations: operations.openCalls, caller: daemonCaller, logger: logger)),
            rotation,
            Recurring(
                every: .seconds(3_600),
                EventExpiry(operations: operations.events, retention: settings.events.retention, logger: logger)),
            EventDelivery(
                to: settings.events.webhooks, deliveries: operations.deliveries, notifier: operations.notifier,
                logger: logger),
        ]
        if let shipping = HeadShipping(
            settings: settings.auditHead, store: store, clock: clock, conditions: conditions, logger: logger)
        {
            services += [
                Recurring(
                    every: HeadShippingWatch.patience,
                    HeadShippingWatch(
                        progress: shipping.progress, settings: settings.auditHead, conditions: conditions,
                        logger: logger)),
                Recurring(every: settings.auditHead.every, mayBlock: true, shipping),
            ]
        }
        if let interval = settings.auditHead.eventEvery {
            services.append(Recurring(every: interval, HeadEvents(operations: operations.audit, logger: logger)))
        }
        services += [
            Recurring(
                every: .seconds(86_400), mayBlock: true,
                DatabaseCheck(
                    store: store, operations: operations.audit, integrity: operations.integrity, conditions: conditions,
                    logger: logger)),
            Recurring(
                every: .seconds(2), mayBlock: true,
                StoreRecovery(
                    store: store, lock: lock, reserve: DiskReserve(directory: settings.stateDirectory),
                    sockets: [settings.adminSocket.path, settings.decryptorSocket.path], conditions: conditions,
                    logger: logger, recordStart: { await start.write() })),
            Recurring(
                every: .seconds(2), mayBlock: true,
                RequiredFilesCheck(
                    lock: lock, lockPath: settings.lockPath,
                    masterKey: MasterKeyPresence(settings: settings.masterKey, store: store),
                    conditions: conditions, logger: logger)),
            BackupDraftRemoval(draft: draft, store: store),
        ]
        if let backup = settings.backup {
            services.append(
                Recurring(
                    every: BackupSchedule.longestPause, mayBlock: true,
                    BackupSchedule(
                        settings: backup, operations: operations.backups, confirmedTime: confirmedTime,
                        caller: daemonCaller,
                        clock: clock, startedAt: startedAt, conditions: conditions, logger: logger)))
        }
        services += [decryptorServer, adminServer]
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: services.map { .init(service: $0) },
                gracefulShutdownSignals: [.sigterm, .sigint], logger: logger
            ).bounded(by: ShutdownLimit(logger: logger)))
        logger.info(
            "merchantkeyd starts",
            metadata: [
                "version": "\(Program.version)", "environment": "\(settings.environment.rawValue)",
                "adminSocket": "\(settings.adminSocket.path)", "decryptorSocket": "\(settings.decryptorSocket.path)",
            ])
        do { try await group.run() } catch {
            await outward.shutdown()
            throw error
        }
        await outward.shutdown()
        try claims.close()
        if let replaced = store.checkPlace() {
            // The log belongs to the file that was moved.
            lock.markReplaced(replaced)
            return try store.close()
        }
        lock.markClosing()
        try store.close()
        try markClosed(settings, lock)
        // The shared memory was removed: reserve its space for the next start.
        DiskReserve(directory: settings.stateDirectory).keep()
    }

    private static func markClosed(_ settings: Settings, _ lock: InstanceLock) throws {
        // SQLite does not sync the removal of the log. After a power failure the old log would be refused as a foreign one.
        try Durable.sync(settings.stateDirectory)
        try lock.markClosed(leavingLog: StartObserver(settings: settings).hasLog)
    }

    private static func openKeys(
        _ settings: Settings, _ files: ReferencedFiles, _ store: SQLiteStore, _ observation: StartObservation,
        clock: some WallClock, logger: Logger
    ) throws -> (Keyring, KeyCustody) {
        let keyring: Keyring
        do { keyring = try MasterKeys(settings.masterKey).keyring(opening: store, at: clock.now) } catch let error
            as MerchantError where error.code == .masterKeyConflict
        {
            var observation = observation
            observation.masterKey = .rejected(error.detail)
            _ = try StartDecision(on: observation, acceptsOlderDatabase: true).orRefusal()
            throw error
        }
        if !keyring.isLocked {
            logger.warning(
                "master key and data keys may be written to swap: raise the limit on locked memory (LimitMEMLOCK), or disable swap"
            )
        }
        let custody = KeyCustody(
            keyring: keyring, certificateIssuers: files.certificateIssuers
        ) { hash in
            try store.readNow { reading in
                guard let keyPair = try reading.keyPair(hash) else { return nil }
                // A destroyed key pair has no sealed bytes.
                let sealed = try reading.sealedPrivateKey(of: hash)
                return SealedKeyPair(
                    keyPair: keyPair,
                    sealedPrivateKey: sealed ?? SealedPrivateKey(version: 1, dataKeyIdentifier: 1, bytes: []))
            }
        }
        return (keyring, custody)
    }

    /// Creates the master key file for a new database. ``StartDecision`` refuses a database without its master key.
    private static func createMasterKey(
        _ observed: StartObservation.MasterKey, _ settings: Settings, logger: Logger
    ) throws {
        guard case .file(let path, exists: false) = observed else { return }
        _ = try MasterKey.create(at: path)
        logger.notice("created a new master key: save a copy elsewhere now", metadata: ["path": "\(path)"])
        if path.hasPrefix("\(settings.stateDirectory)/") {
            logger.warning(
                "the master key lies beside the database that it protects: whoever copies the directory has both",
                metadata: ["path": "\(path)"])
        }
    }
}
