import KeyCustody
import Logging
import MerchantCore
import MerchantOperations
import ServiceLifecycle
import UnixSignals
import Vocabulary

/// A start of the daemon: the steps that are the same on SQLite and on PostgreSQL.
struct DaemonStart {
    /// The longest time that systemd waits while the daemon reads the master key and opens the database. The command
    /// that prints the master key may take minutes, and so may the migration of a large database.
    private static let longestOpening = Duration.seconds(900)

    let prepared: PreparedStart
    /// Begins with the settings of ``prepared``.
    let live: LiveSettings
    /// Whether the daemon starts even if the database lacks changes that the daemon has acknowledged.
    let acceptsOlderDatabase: Bool
    /// Held until the daemon has stopped.
    let lock: InstanceLock
    let lifecycle: Lifecycle
    let logger: Logger

    var settings: Settings { prepared.settings }

    func reportOpening() {
        lifecycle.systemd.notifier.send(
            .starting(status: "reading the master key and opening the database", longest: Self.longestOpening))
    }

    /// Refuses to start if a finding forbids it. Otherwise logs the warnings, and writes accepted losses into the lock
    /// file.
    ///
    /// - Throws: ``StartRefusal``; ``SettingsError`` if an accepted loss cannot be written into the lock file.
    func refuseUnsafeStart(_ observation: StartObservation) throws {
        let (losses, warnings) = try StartDecision(on: observation, acceptsOlderDatabase: acceptsOlderDatabase)
            .findingsUnlessRefused()
        for warning in warnings { warning.log(logger) }
        // Opening the database of SQLite creates a write-ahead log, so the files no longer show a loss afterwards. If
        // this start fails before it records the loss in the audit, the next start finds the loss in the lock file.
        try lock.storeAcceptedLosses(losses.map(\.problem))
    }

    /// Serves until a signal ends the daemon, and then closes the store. If the daemon fails, the caller must close the
    /// store.
    func serve(
        _ observedStore: ObservedStore, _ backend: any StoreBackend, _ observation: StartObservation,
        _ opened: MasterKeys.Opened
    ) async throws {
        let parts: DaemonParts
        do {
            parts = try DaemonParts(
                prepared, live, observedStore, backend, opened, lock: lock, lifecycle: lifecycle, logger: logger)
        } catch {
            backend.abandon()
            throw error
        }
        do {
            let startRecord = StartRecord(
                operations: parts.operations.start, audit: parts.operations.audit,
                deliveries: parts.operations.deliveries, nodes: backend.nodes, settings: settings, live: live,
                observation: observation,
                lock: lock,
                caller: parts.caller, activeFindings: parts.activeFindings, logger: logger)
            try backend.finishOpening()
            // Decides again, because only the open database shows whether audit records are missing.
            try await startRecord.decideAndWrite(acceptsOlderDatabase: acceptsOlderDatabase)
            try backend.willServe()
            let group = ServiceGroup(
                configuration: ServiceGroupConfiguration(
                    services: DaemonServices(parts: parts, startRecord: startRecord).all
                        .map { .init(service: NamedService(service: $0)) },
                    gracefulShutdownSignals: [.sigterm, .sigint, .sigquit], logger: logger
                ).limitingShutdown(by: ShutdownLimit(logger: logger)))
            logger.info("merchantkeyd starts", metadata: startFields)
            try await group.run()
        } catch {
            await parts.outbound.shutdown()
            backend.abandon()
            throw error
        }
        await parts.outbound.shutdown()
        try backend.close()
    }

    private var startFields: Logger.Metadata {
        var fields: Logger.Metadata = [
            "version": "\(Program.version)", "environment": "\(settings.environment.rawValue)",
            "store": "\(settings.store.kind.rawValue)",
            "adminSocket": "\(settings.adminSocket.path)", "decryptorSocket": "\(settings.decryptorSocket.path)",
        ]
        if settings.provisioning != nil { fields["issuerSocket"] = "\(settings.issuerSocket.path)" }
        return fields
    }
}
