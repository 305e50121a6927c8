import AdminServer
import DecryptorServer
import EventDelivery
import FoundationEssentials
import Glibc
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

/// The composition root: the one place that knows every part and puts them together.
package enum Daemon {
    /// Opens everything in order (directory, lock, master key, database, keys, sockets) and serves until SIGTERM or SIGINT.
    ///
    /// - Throws: ``SettingsError`` or `MerchantError` saying what was found and what was expected.
    ///
    /// - Parameter acceptsOlder: whether a database that is older than it once was is good enough.
    package static func run(_ settings: Settings, acceptsOlder: Bool = false, logger: Logger) async throws {
        for complaint in ProcessHygiene.apply() {
            logger.warning("process hygiene is incomplete", metadata: ["complaint": "\(complaint)"])
        }
        try StateDirectory.prepare(settings.stateDirectory)
        let lock = try InstanceLock(path: settings.lockPath)
        guard try RestoreMarker(path: settings.restoreMarkerPath).read() == nil else {
            throw SettingsError(
                "a restore into \(settings.stateDirectory) was cut short: run 'merchantkeyctl backup restore' again")
        }
        Restore.removeLeftovers(settings)
        DiskReserve(directory: settings.stateDirectory).release()
        let clock = SystemClock()
        if let strange = DatabaseHistory.unexpectedLog(settings, lock.found) { throw SettingsError(strange) }
        let losses = DatabaseHistory.losses(settings, lock.found)
        guard losses.isEmpty || acceptsOlder else { throw SettingsError(DatabaseHistory.refusal(losses)) }
        // Opening the database makes a new log: should this start end before its record, the next one finds the loss here.
        try lock.keep(losses.map(\.found))
        try lock.markOpening()

        let hadDatabase = access(settings.databasePath, F_OK) == 0
        do {
            try prepareMasterKey(settings, logger: logger)
            let store = try SQLiteStore.open(path: settings.databasePath, clock: clock)
            do {
                try await serve(
                    settings, store, hadDatabase: hadDatabase, acceptsOlder: acceptsOlder, clock: clock, lock: lock,
                    logger: logger)
            } catch {
                if let replaced = store.checkPlace() { lock.markReplaced(replaced) }
                try? store.close()
                throw error
            }
        } catch {
            // Whoever closes a database last takes its log away, content and all: the next start is not to miss it.
            if lock.replaced == nil, access(settings.databasePath, F_OK) == 0, !DatabaseHistory.hasLog(settings) {
                try? markClosed(settings, lock)
            }
            throw error
        }
        withExtendedLifetime(lock) { logger.info("merchantkeyd ended") }
    }

    private static func serve(
        _ settings: Settings, _ store: SQLiteStore, hadDatabase: Bool, acceptsOlder: Bool, clock: SystemClock,
        lock: InstanceLock, logger: Logger
    ) async throws {
        let startedAt = clock.now
        let (keyring, custody) = try openKeys(settings, store, clock: clock, logger: logger)
        let draft = await store.backupDraft()
        let claims = ClaimsFile(
            path: settings.claimsPath, isExpected: hadDatabase,
            wasLeftOpen: lock.found.isOpen && lock.found.head?.isLast != true,
            clock: clock, logger: logger)
        let outward = try GatewayParts(settings, store: store, custody: custody, clock: clock, logger: logger)
        let answers = AnswerCache()
        store.setObservers([custody, answers])
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
        if let roots = try tokenRoots(settings) { parts.tokenRoots = roots }
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
            operations: operations, settings: settings, lock: lock, caller: daemonCaller, conditions: conditions,
            logger: logger)
        try await start.make(acceptsOlder: acceptsOlder)
        try lock.markOpen()

        let decryptorServer = DecryptorServer(
            socketPath: settings.decryptorSocket.path, socketMode: settings.decryptorSocket.mode,
            operations: operations.paymentTokens, refusals: operations.refusals, integrity: operations.integrity,
            policy: settings.policy, health: health, answers: answers,
            logger: logger)
        let adminServer = AdminServer(
            socketPath: settings.adminSocket.path, socketMode: settings.adminSocket.mode,
            operations: AdminOperations(from: operations),
            policy: settings.policy, health: health, version: Program.version, startedAt: startedAt,
            openAPI: Schema.openAPI, logger: logger)
        let sweep = DestructionSweep(
            operations: operations.transitions, caller: daemonCaller,
            eraseIfDue: { try await store.eraseRemovedBytesIfDue() },
            logger: logger)
        let observedUse = UseKeeping(operations: operations.keyUses, caller: daemonCaller, logger: logger)
        let refusals = RefusalRecording(operations: operations.refusalAudit, caller: daemonCaller, logger: logger)
        let schedule = RollSchedule(operations: operations.renewals, caller: daemonCaller, logger: logger)
        let settler = RegistrationResolver(operations: operations.openCalls, caller: daemonCaller, logger: logger)
        let eventDelivery = EventDelivery(
            to: settings.events.webhooks, deliveries: operations.deliveries, notifier: operations.notifier,
            logger: logger)
        let eventSweep = EventSweep(operations: operations.events, age: settings.events.retention, logger: logger)
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                // Ended last to first: what the servers' last requests left is stored after them.
                services: [
                    .init(service: ClockWatch(operations: operations.clock, conditions: conditions, logger: logger)),
                    .init(service: observedUse), .init(service: refusals), .init(service: sweep),
                    .init(service: schedule), .init(service: settler), .init(service: OnBlockingThreads(rotation)),
                    .init(service: eventSweep), .init(service: eventDelivery),
                    .init(
                        service: OnBlockingThreads(
                            HeadShipping(
                                settings: settings.auditHead, store: store, clock: clock, conditions: conditions,
                                logger: logger))),
                    .init(
                        service: HeadEvents(
                            every: settings.auditHead.eventEvery, operations: operations.audit, logger: logger)),
                    .init(
                        service: OnBlockingThreads(
                            StoreWatch(
                                store: store, operations: operations.audit, integrity: operations.integrity, lock: lock,
                                reserve: DiskReserve(directory: settings.stateDirectory),
                                sockets: [settings.adminSocket.path, settings.decryptorSocket.path],
                                conditions: conditions, logger: logger
                            ) {
                                await start.makeUp()
                            })),
                    .init(
                        service: OnBlockingThreads(
                            FilesWatch(
                                lock: lock, lockPath: settings.lockPath,
                                masterKey: MasterKeyPresence(settings: settings.masterKey, store: store),
                                conditions: conditions, logger: logger))),
                    .init(service: OnBlockingThreads(DraftRemoval(draft: draft, store: store))),
                    .init(
                        service: OnBlockingThreads(
                            BackupSchedule(
                                settings: settings.backup, operations: operations.backups, confirmedTime: confirmedTime,
                                caller: daemonCaller, clock: clock,
                                startedAt: startedAt, conditions: conditions, logger: logger))),
                    .init(service: decryptorServer), .init(service: adminServer),
                ],
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
            // The log goes with the file, wherever that is.
            lock.markReplaced(replaced)
            return try store.close()
        }
        lock.markClosing()
        try store.close()
        try markClosed(settings, lock)
        // The shared memory is gone: on a full disk its room is for the next start's.
        DiskReserve(directory: settings.stateDirectory).keep()
    }

    private static func markClosed(_ settings: Settings, _ lock: InstanceLock) throws {
        // SQLite does not make it durable that the log is gone: after a power failure it would pass for a foreign one.
        try Durable.sync(settings.stateDirectory)
        try lock.markClosed(leavingLog: DatabaseHistory.hasLog(settings))
    }

    /// Reads the files that the settings name, but for keys.
    static func judgeFiles(_ settings: Settings) throws {
        _ = try tokenRoots(settings)
        _ = try certificateIssuers(settings)
    }

    private static func certificateIssuers(_ settings: Settings) throws -> CertificateIssuers? {
        try settings.certificateIssuers.map { paths in
            // Apple's root completes the chains of Apple's issuing CAs, which is all that most settings name.
            try CertificateIssuers(
                reading: try paths.map { try file("trust.certificate-issuers", $0) }
                    + [TrustRoot.appleRootCAG3.derRepresentation])
        }
    }

    private static func openKeys(
        _ settings: Settings, _ store: SQLiteStore, clock: some WallClock, logger: Logger
    ) throws -> (Keyring, KeyCustody) {
        let issuers = try certificateIssuers(settings)
        let keyring: Keyring
        do { keyring = try MasterKeys(settings.masterKey).keyring(opening: store, at: clock.now) } catch let error
            as MerchantError where error.code == .masterKeyConflict
        {
            throw MerchantError(error.code, "\(error.detail): put the right one in its place")
        }
        if !keyring.isLocked {
            logger.warning(
                "master key and data keys may be written to swap: raise the limit on locked memory (LimitMEMLOCK), or switch swap off"
            )
        }
        let custody = KeyCustody(
            keyring: keyring, certificateIssuers: issuers
        ) { hash in
            try store.readNow { reading in
                guard let keyPair = try reading.keyPair(hash) else { return nil }
                // A destroyed key has no sealed bytes left; its state says so.
                let sealed = try reading.sealedPrivateKey(of: hash)
                return SealedKeyPair(
                    keyPair: keyPair,
                    sealedPrivateKey: sealed ?? SealedPrivateKey(version: 1, dataKeyIdentifier: 1, bytes: []))
            }
        }
        return (keyring, custody)
    }

    /// Made only where there is no database yet: a database without its master key would be sealed for good by a new one.
    private static func prepareMasterKey(_ settings: Settings, logger: Logger) throws {
        guard case .file(let path) = settings.masterKey.current else { return }
        guard access(path, F_OK) != 0 else {
            if access(settings.databasePath, F_OK) != 0 {
                // A first start that was cut short leaves the same behind, so this is no reason to refuse.
                logger.warning(
                    "there is a master key but no database: a new, empty one is made; if this is not a first start, stop and restore the database",
                    metadata: ["path": "\(settings.databasePath)"])
            }
            return
        }
        guard access(settings.databasePath, F_OK) != 0 else {
            throw SettingsError(
                "the database \(settings.databasePath) is here but its master key is not: expected the file \(path); put it back from where it was saved"
            )
        }
        _ = try MasterKey.create(at: path)
        logger.notice("a new master key was made: save it elsewhere now", metadata: ["path": "\(path)"])
        if path.hasPrefix("\(settings.stateDirectory)/") {
            logger.warning(
                "the master key lies beside its database, where it protects little", metadata: ["path": "\(path)"])
        }
    }

    private static func tokenRoots(_ settings: Settings) throws -> [TrustRoot]? {
        guard !settings.tokenRoots.isEmpty else { return nil }
        return try settings.tokenRoots.flatMap { path in
            let text = String(decoding: try file("trust.token-roots", path), as: UTF8.self)
            do { return try TrustRoot.reading(pem: text) } catch {
                throw SettingsError("'trust.token-roots' names \(path): \(error)")
            }
        }
    }

    private static func file(_ setting: String, _ path: String) throws -> [UInt8] {
        try SmallFile.read(path, named: "'\(setting)' names \(path), which")
    }
}
