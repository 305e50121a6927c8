import PostgresStore

/// Keeps daemons away from one side of a copy: from the state directory on SQLite, from the database on PostgreSQL. The
/// locks are released when the value is destroyed or the process exits.
struct CopyLocks {
    /// How long a daemon that is starting may take before the copy gives up.
    private static let longestStart = Duration.seconds(10)

    let durability: Durability
    /// Nil on PostgreSQL.
    let instance: InstanceLock?
    /// Nil on SQLite.
    private let start: StartLock?

    /// - Throws: ``SettingsError`` or `storeUnavailable` if a daemon uses the state directory or the database.
    init(_ settings: Settings, _ durability: Durability) throws {
        self.durability = durability
        if let postgresql = settings.store.postgresql {
            instance = nil
            start = try StartLock(postgresql.connection, waiting: Self.longestStart, durability: durability)
        } else {
            try InstanceLock.requireFree(directory: settings.stateDirectory)
            instance = try InstanceLock(path: settings.lockPath)
            start = nil
        }
        try requireNoDaemon()
    }

    /// What the last daemon wrote into the lock file.
    var previousContent: LockFileContent { instance?.previousContent ?? LockFileContent() }

    /// - Throws: `storeUnavailable` if a daemon uses the PostgreSQL database, or may have used it since this value was
    ///   created.
    func requireNoDaemon() throws { try start?.requireNoDaemon() }
}
