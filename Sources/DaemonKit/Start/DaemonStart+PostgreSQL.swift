import Logging
import MerchantCore
import MerchantOperations
import PostgresStore
import ServiceLifecycle
import Vocabulary

extension DaemonStart {
    /// What a start has opened on PostgreSQL.
    private struct OpenedServer {
        let observedStore: ObservedStore
        let backend: PostgresBackend
        let observation: StartObservation
        let keyring: MasterKeys.Opened
    }

    /// Starts with a PostgreSQL database, and serves until a signal ends the daemon.
    func runOnPostgreSQL(_ postgresql: PostgreSQLSettings) async throws {
        reportOpening()
        let opened = try StartLock.during(postgresql.connection) { try open(postgresql) }
        do {
            try await serve(opened.observedStore, opened.backend, opened.observation, opened.keyring)
        } catch {
            opened.backend.lease.end()
            opened.backend.store.close()
            throw error
        }
    }

    private func open(_ postgresql: PostgreSQLSettings) throws -> OpenedServer {
        let observer = StartObserver(settings: settings)
        var observation = observer.observeServer(
            named: postgresql.connection.databaseName, lock.previousContent)
        let clock = SystemClock()
        // Creates the schema in an empty database, upgrades an older one, and refuses the database of another program.
        let opened = try PostgresDatabase(postgresql.connection, clock: clock, notice: logNotice)
        try opened.requireConnections()
        observation.server?.hasContent = try opened.hasDataKeys()
        let seen = lock.previousContent.head?.auditHead
        observation.server?.lostTransactions = try seen.flatMap {
            try opened.lostTransactions(since: $0)?.description
        }
        // Compares now, so that a refused start creates no master key.
        if observation.server?.hasContent == false {
            observation.auditComparison = try observer.compareMissingAudit(lock.previousContent)
        }
        try refuseUnsafeStart(observation)
        // If transactions were lost and the operator has accepted that, the audit continues from what the database has.
        let auditHead = KnownAuditHead(observation.server?.lostTransactions == nil ? seen : nil, recordingIn: lock)
        let database = opened.requiring(auditHead)
        let (cacheLease, leaderLease) = (Lease(), Lease())
        let caches = StoreCaches(lease: cacheLease)
        let observers = caches.observers(audit: auditHead)
        let node = Node(
            name: postgresql.node, version: Program.version, replacing: lock.previousContent.nodeRun)
        let lease = NodeLease(
            database, node: node, timing: postgresql.lease,
            .init(cacheLease: cacheLease, leaderLease: leaderLease, observers: observers, report: logLease),
            clock: clock)
        do {
            // Waits for the end of the lease, because the name may belong to a killed daemon with another state
            // directory.
            try lease.begin(waiting: postgresql.lease.length + .seconds(2))
        } catch NodeLease.Failure.nameInUse {
            observation.server?.nameInUse = postgresql.node.text
            try refuseUnsafeStart(observation)
            throw MerchantError(.internalError, "the start was not refused although its node name is in use")
        }
        do {
            try lock.update { $0.nodeRun = node.run }
            let confirmedTime = ConfirmedTime(
                clock: clock, last: try database.read { try ClockOperations.lastConfirmedTime(in: $0) })
            let store = PostgresStore(
                database, clock: clock, observers: observers, confirmedTime: confirmedTime, lease: lease)
            do {
                try createMasterKey(observation.masterKey)
                let observedStore = ObservedStore(
                    store: store, clock: clock, confirmedTime: confirmedTime, caches: caches)
                let keyring = try openKeyring(observedStore, observation)
                let backend = PostgresBackend(
                    store, claims: try PostgresClaims(database, clock: clock),
                    .init(lease: lease, cacheLease: cacheLease, leaderLease: leaderLease), keyring: keyring.keyring,
                    settings: settings, postgresql, lock: lock, clock: clock)
                return OpenedServer(
                    observedStore: observedStore, backend: backend, observation: observation, keyring: keyring)
            } catch {
                store.close()
                throw error
            }
        } catch {
            lease.end()
            throw error
        }
    }

    private var logLease: @Sendable (MerchantError?) -> Void {
        let lastError = LastError()
        return { [logger] error in
            guard lastError.replace(by: error?.detail) else { return }
            if let error {
                logger.error(
                    "the lease on the PostgreSQL database cannot be renewed: when the lease ends, every request needs the database, and gets 503 if the database cannot be reached; check the server, the network and the password file",
                    metadata: ["error": "\(error.detail)"])
            } else {
                logger.notice("the lease on the PostgreSQL database is renewed again")
            }
        }
    }

    /// Logs a notice of the server, such as a warning that the role lacks the permission to vacuum a table.
    private var logNotice: @Sendable (_ severity: String, _ sqlState: String, _ message: String) -> Void {
        { [logger] severity, sqlState, message in
            logger.log(
                level: severity == "WARNING" ? .warning : .debug, "PostgreSQL reports a notice",
                metadata: ["severity": "\(severity)", "sqlState": "\(sqlState)", "notice": "\(message)"])
        }
    }
}
