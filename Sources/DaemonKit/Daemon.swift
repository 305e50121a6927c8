import Logging

/// Starts the daemon, runs its services, and shuts it down.
enum Daemon {
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
        let lock = try InstanceLock(
            path: settings.lockPath, listeningOn: prepared.sockets.paths + settings.listenAddresses)
        try prepared.sockets.requireFree()
        let start = DaemonStart(
            prepared: prepared, live: live, acceptsOlderDatabase: acceptsOlderDatabase, lock: lock,
            lifecycle: lifecycle, logger: logger)
        switch settings.store {
        case .sqlite: try await start.runOnSQLite()
        case .postgresql(let postgresql): try await start.runOnPostgreSQL(postgresql)
        }
        // Without this, Swift could release the lock after its last use, before the daemon has stopped.
        withExtendedLifetime(lock) { logger.info("merchantkeyd ended") }
    }
}
