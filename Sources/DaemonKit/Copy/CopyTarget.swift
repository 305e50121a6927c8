import Glibc
import MerchantCore
import MerchantOperations
import PostgresStore
import SQLiteStore
import StoreCore

/// The store to which another store is copied. No daemon can use it before ``finish(_:storing:)``.
protocol CopyTarget {
    /// The database, for messages.
    var name: String { get }
    /// Whether an earlier run has copied a part of the rows.
    var isResumed: Bool { get }
    var tables: any TableWriting { get }

    /// Opens the copied data as a store, after all rows were written and compared. The tables must not be used
    /// afterwards.
    ///
    /// - Returns: the store, and faults that only this kind of store finds.
    func open() async throws -> (store: any DaemonStore, findings: [String])

    /// Closes the store. It may be closed already.
    func close(_ store: any DaemonStore)

    /// Closes the store, and lets a daemon use the data.
    ///
    /// - Parameters:
    ///   - store: the open store.
    ///   - value: what the next start records in the audit.
    func finish(_ store: any DaemonStore, storing value: DaemonValue) async throws

    /// Makes the next run copy everything again, because the copy failed its verification.
    func discard() throws
}

/// A named text that the daemon stores about itself: a row of the table `daemon_values`.
typealias DaemonValue = (name: String, value: String)

struct PostgresCopyTarget: CopyTarget {
    let name: String
    private let copy: PostgresCopy
    private let settings: PostgreSQLSettings
    private let locks: CopyLocks
    private let clock: any WallClock

    /// - Throws: `storeUnavailable` if a daemon uses the database, or if it has content.
    init(
        _ settings: Settings, _ postgresql: PostgreSQLSettings, mark: UnfinishedCopyMark, clock: any WallClock,
        durability: Durability
    ) throws {
        name = "the PostgreSQL database \(postgresql.connection.databaseName)"
        locks = try CopyLocks(settings, durability)
        copy = try PostgresCopy(postgresql.connection, mark: mark, clock: clock, durability: durability)
        self.settings = postgresql
        self.clock = clock
    }

    var isResumed: Bool { copy.isResumed }
    var tables: any TableWriting { copy }

    func open() throws -> (store: any DaemonStore, findings: [String]) {
        try copy.prepareForUse()
        let database = try PostgresDatabase(
            settings.connection, clock: clock, durability: locks.durability, acceptsUnfinishedCopy: true)
        return (PostgresStore(database, clock: clock), [])
    }

    func close(_ store: any DaemonStore) { (store as? PostgresStore)?.close() }

    func finish(_ store: any DaemonStore, storing value: DaemonValue) throws {
        close(store)
        try locks.requireNoDaemon()
        try copy.finish(storing: value)
    }

    func discard() throws { try copy.discard() }
}

struct SQLiteCopyTarget: CopyTarget {
    let name: String
    private let copy: SQLiteCopy
    private let settings: Settings
    private let locks: CopyLocks
    private let clock: any WallClock

    /// - Throws: ``SettingsError`` if a daemon uses the state directory, if the directory contains a database, or if a
    ///   restore into it was interrupted.
    init(_ settings: Settings, mark: UnfinishedCopyMark, clock: any WallClock, durability: Durability) throws {
        name = "the SQLite database \(settings.databasePath)"
        try StateDirectory.prepare(settings.stateDirectory)
        locks = try CopyLocks(settings, durability)
        try Self.requireNoDatabase(settings)
        copy = try SQLiteCopy(
            database: settings.databasePath, claims: settings.claimsPath, mark: mark, clock: clock)
        self.settings = settings
        self.clock = clock
    }

    private static func requireNoDatabase(_ settings: Settings) throws {
        guard try RestoreMarker(path: settings.restoreMarkerPath).read() == nil else {
            throw SettingsError(
                "a restore into the state directory \(settings.stateDirectory) was interrupted; name another state directory in the settings of --to, or run 'merchantkeyctl backup restore' again"
            )
        }
        let present = [settings.databasePath, settings.claimsPath].flatMap { path in
            SQLiteStore.fileSuffixes.map { path + $0 }
        }.filter { FileStatus(of: $0) != nil }
        guard present.isEmpty else {
            throw SettingsError(
                "the state directory \(settings.stateDirectory) already contains a database: \(present.joined(separator: ", ")); move these files to another directory, or name another state directory in the settings of --to"
            )
        }
    }

    var isResumed: Bool { copy.isResumed }
    var tables: any TableWriting { copy }

    private var databaseDraft: String { settings.databasePath + SQLiteCopy.suffix }
    private var claimsDraft: String { settings.claimsPath + SQLiteCopy.suffix }

    func open() async throws -> (store: any DaemonStore, findings: [String]) {
        try copy.finish()
        try ClaimStore.inspect(path: claimsDraft, wholeContent: true)
        let store = try SQLiteStore.open(path: databaseDraft, clock: clock)
        do { return (store, try await store.quickCheck() + store.inconsistentContent()) } catch {
            try? store.close()
            throw error
        }
    }

    func close(_ store: any DaemonStore) { try? (store as? SQLiteStore)?.close() }

    func finish(_ store: any DaemonStore, storing value: DaemonValue) async throws {
        try await store.write { try $0.setDaemonValue(value.name, value.value) }
        // Also copies the write-ahead log into the database file, because only that file is put in place.
        try await store.eraseCopiesOfDestroyedSecrets()
        try (store as? SQLiteStore)?.close()
        for draft in [claimsDraft, databaseDraft] {
            for suffix in ["-wal", "-shm"] {
                guard FileStatus(of: draft + suffix)?.size ?? 0 == 0 || suffix == "-shm" else {
                    throw MerchantError(
                        .storeUnavailable,
                        "another program has \(draft) open, so its last changes are not in the file: stop that program, and run the command again"
                    )
                }
                unlink(draft + suffix)
            }
            try StableStorage.sync(draft)
        }
        // The database comes last: a daemon refuses to start if there are claims without a database.
        for (draft, path) in [(claimsDraft, settings.claimsPath), (databaseDraft, settings.databasePath)] {
            guard rename(draft, path) == 0 else { throw StableStorage.systemError("cannot put \(path) in place") }
            try StableStorage.sync(settings.stateDirectory)
        }
        // Removes the entries about an earlier database.
        try locks.instance?.update { $0 = .init(wasClosedWithoutLog: true) }
    }

    func discard() throws { SQLiteCopy.removeFiles(database: settings.databasePath, claims: settings.claimsPath) }
}
