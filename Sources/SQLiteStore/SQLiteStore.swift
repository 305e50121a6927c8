import CSQLite
import FoundationEssentials
import GRDB
package import MerchantCore
import Schema
import Synchronization
import Vocabulary

/// Stores merchants, keys, rolls, registrations, events and the audit in one SQLite database.
///
/// One connection writes, and up to ``Connections/readers`` connections read. When ``write(_:)`` returns, its changes
/// are on stable storage: the database has a write-ahead log, and `synchronous = FULL` syncs the log at each commit.
/// Only one process may open the database; the caller must ensure that.
package final class SQLiteStore: MerchantRepository, Sendable {
    /// The path of the database; its write-ahead log and shared memory are in the same directory.
    package let path: String
    private let place: DatabaseFile.Place
    let pool: DatabasePool
    let queue: WriteQueue
    /// Whether the write-ahead log may hold copies of destroyed keys. True at start, because the previous process may
    /// have been killed after it destroyed a key and before it emptied the log.
    let erasureIsDue = Atomic(true)

    /// - Parameters:
    ///   - clock: gives the time at which writes began to fail, for ``health``.
    ///   - confirmedTime: while the machine's clock is behind this time, events get this time instead. If nil, events
    ///     keep the time of the machine's clock.
    package init(
        _ database: OpenedDatabase, clock: any WallClock, observers: StoreObservers = StoreObservers(),
        confirmedTime: ConfirmedTime? = nil
    ) {
        place = database.place
        path = place.path
        pool = database.pool
        queue = WriteQueue(
            pool: pool, place: place, clock: clock, observers: observers, confirmedTime: confirmedTime)
    }

    /// Opens a database and builds a store with it, for callers that need no value from the database before that. Other
    /// callers open an ``OpenedDatabase`` first.
    package static func open(
        path: String, clock: any WallClock = SystemClock(), observers: StoreObservers = StoreObservers(),
        trace: (@Sendable (String) -> Void)? = nil, migrations: [(name: String, sql: String)] = Schema.migrations
    ) throws -> SQLiteStore {
        SQLiteStore(
            try OpenedDatabase(path: path, clock: clock, trace: trace, migrations: migrations), clock: clock,
            observers: observers)
    }

    /// Whether the store accepts writes, and if not, why.
    package var health: StoreHealth { queue.health }

    /// Checks that the paths of the database and its write-ahead log still name the opened files. If they do not, the
    /// store refuses all further writes.
    ///
    /// - Returns: nil if the database's path names the opened file. Otherwise the inode of the opened file, to which
    ///   the write-ahead log belongs.
    package func checkPlace() -> UInt64? {
        try? queue.requireInPlace()
        return place.replaced
    }

    /// Refuses new writes, commits the waiting ones, checkpoints the write-ahead log, and closes the database.
    package func close() throws {
        queue.finish()
        checkpointAtClose()
        if queue.isUnreliable {
            // After a failed sync, the log in memory may differ from the log on the disk. So this connection closes
            // without a checkpoint. The next start verifies the checksum of each frame in the log before it uses the
            // frame.
            pool.writeWithoutTransaction { db in
                if let connection = db.sqliteConnection { _ = csqlite_leave_log(connection) }
            }
        } else {
            // SQLite removes the log when the last connection closes, but only if that connection can write. GRDB
            // closes the writer first, so the readers must be closed before.
            pool.invalidateReadOnlyConnections()
        }
        try SQLiteErrors.translating { try pool.close() }
    }

    /// Checkpoints the write-ahead log before the database is closed. Closing alone is not enough: if a thread still
    /// uses a reader, that reader closes last, and a reader cannot checkpoint. If another program reads the database or
    /// the disk is full, the log keeps its content until the next start.
    private func checkpointAtClose() {
        guard place.replaced == nil, !queue.isUnreliable else { return }
        do { try pool.barrierWriteWithoutTransaction { _ = try Self.emptyLog($0) } } catch { _ = queue.handled(error) }
    }

    /// SQLite's settings on the writing connection, for tests.
    package func settings() throws -> [String: String] {
        try queue.requireReady()
        return try SQLiteErrors.translating { try pool.writeWithoutTransaction { try Connections.settings(of: $0) } }
    }

    /// Runs SQLite's `quick_check` and `foreign_key_check` on the whole database. If they find a fault, the store
    /// refuses all further writes. The time grows with the size of the database; other reads and writes continue
    /// meanwhile.
    ///
    /// - Returns: the faults; empty if there are none.
    package func examine() async throws -> [String] {
        let found = try await quickCheck()
        if let first = found.first {
            queue.fail(MerchantError(.storeUnavailable, "\(SQLiteErrors.damaged): \(first)"))
        }
        return found
    }

    /// Runs the same checks as ``examine()``, but the store continues to accept writes if they find a fault.
    package func quickCheck() async throws -> [String] {
        do { return try await readTables { try Self.faults(in: $0) } } catch  where SQLiteErrors.isCorruption(error) {
            // If SQLite cannot read a whole tree of pages, the check itself fails. That is a fault of the database,
            // too.
            return [(SQLiteErrors.translated(error) as? MerchantError)?.detail ?? "\(error)"]
        } catch { throw SQLiteErrors.translated(error) }
    }

    /// Runs `foreign_key_check` and one more check of SQLite.
    ///
    /// - Parameter check: `quick_check`, or `integrity_check`, which also compares indexes with their tables and takes
    ///   several times as long.
    /// - Returns: the faults; empty if there are none.
    static func faults(in db: Database, byCheck check: String = "quick_check") throws -> [String] {
        try String.fetchAll(db, sql: "PRAGMA \(check)").filter { $0 != "ok" }
            + Row.fetchAll(db, sql: "PRAGMA foreign_key_check").map {
                "a row of \($0["table"] as String? ?? "?") refers to a missing row of \($0["parent"] as String? ?? "?")"
            }
    }
}

// MARK: - Reading and writing

extension SQLiteStore {
    package func read<Result: Sendable>(
        _ body: @escaping @Sendable (any RepositoryReading) throws -> Result
    ) async throws -> Result { try await readStore { try body($0) } }

    package func readNow<Result>(_ body: (any RepositoryReading) throws -> Result) throws -> Result {
        do { return try pool.read { try body(StoreReader(db: $0)) } } catch { throw noted(error) }
    }

    /// Cancelling the task does not cancel a write.
    package func write<Result: Sendable>(
        _ body: @escaping @Sendable (any RepositoryWriting) throws -> Result
    ) async throws -> Result { try await writeStore { try body($0) } }
}

// MARK: - Reading and writing with access to every table

extension SQLiteStore {
    /// As ``read(_:)``, with access to every table instead of the ports only.
    func readStore<Result: Sendable>(_ body: @escaping @Sendable (StoreReader) throws -> Result) async throws -> Result
    {
        do { return try await readTables { try body(StoreReader(db: $0)) } } catch { throw noted(error) }
    }

    /// As ``write(_:)``, with access to every table instead of the ports only.
    func writeStore<Result: Sendable>(
        _ body: @escaping @Sendable (StoreTransaction) throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            queue.add(
                PendingWrite(
                    run: { transaction in
                        let result = try body(transaction)
                        return { continuation.resume(returning: result) }
                    },
                    refuse: { continuation.resume(throwing: $0) }))
        }
    }

    /// Reads on a thread of GRDB, which returns the reader to the pool without waiting for the calling task.
    ///
    /// GRDB's own asynchronous `read` keeps its reader while the task is suspended. If every thread of Swift's
    /// concurrency pool then waited for a reader in ``readNow(_:)``, no thread could resume the task, and no reader
    /// would be returned.
    func readTables<Result: Sendable>(_ body: @escaping @Sendable (Database) throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            pool.asyncRead { db in continuation.resume(with: Swift.Result { try body(try db.get()) }) }
        }
    }

    /// Translates the error of a read to a `MerchantError`. If the error shows that the database is corrupt, the store
    /// refuses all further writes.
    func noted(_ error: any Error) -> any Error {
        SQLiteErrors.isCorruption(error) ? queue.handled(error) : SQLiteErrors.translated(error)
    }
}
