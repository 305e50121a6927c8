import CSQLite
import FoundationEssentials
import GRDB
package import MerchantCore
import Schema
import Synchronization
import Vocabulary

/// The store in one SQLite file.
///
/// One connection writes, a few read. When ``write(_:)`` returns, its changes are on stable storage: write-ahead log,
/// `synchronous = FULL`. Only one process may open the file; the caller must ensure that.
package final class SQLiteStore: MerchantRepository, Sendable {
    /// The path of the database; its write-ahead log and shared memory are in the same directory.
    package let path: String
    private let place: DatabaseFile.Place
    let pool: DatabasePool
    let queue: WriteQueue
    /// Whether the write-ahead log may hold erased bytes. True at start, because the last process may have been killed between a
    /// destruction and its erasure.
    let erasureIsDue = Atomic(true)

    /// - Parameters:
    ///   - clock: for the time since which writes fail.
    ///   - confirmedTime: corrects the times of events while the machine's clock is set back; nil: the clock is right.
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

    /// Opens the database as ``OpenedDatabase`` does, for a store with nothing that is read from its database.
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

    /// Checks that the database's files are in their places. If they are not, refuses all further writes.
    ///
    /// - Returns: the inode of the opened file if its path names another file or none; the write-ahead log belongs to that
    ///   inode.
    package func checkPlace() -> UInt64? {
        try? queue.requireInPlace()
        return place.replaced
    }

    /// Finishes the waiting writes, refuses further ones, and closes the file.
    package func close() throws {
        queue.finish()
        checkpointAtClose()
        if queue.isUnreliable {
            // After a failed sync the log in memory may differ from the log on the disk. Only the next start, which verifies the
            // checksum of each frame, may checkpoint it.
            pool.writeWithoutTransaction { db in
                if let connection = db.sqliteConnection { _ = csqlite_leave_log(connection) }
            }
        } else {
            // The last connection to close removes the log, which a reader cannot do, and GRDB closes the writer first.
            pool.invalidateReadOnlyConnections()
        }
        try SQLiteErrors.translating { try pool.close() }
    }

    /// Checkpoints the write-ahead log. Closing alone may not do it, because a reader that a thread still holds may close last.
    /// If another program reads the database, or the disk is full, the log keeps its content.
    private func checkpointAtClose() {
        guard place.replaced == nil, !queue.isUnreliable else { return }
        do { try pool.barrierWriteWithoutTransaction { _ = try Self.emptyLog($0) } } catch { _ = queue.handled(error) }
    }

    /// SQLite's settings on the writing connection, for `diagnose`.
    package func settings() throws -> [String: String] {
        try queue.requireReady()
        return try SQLiteErrors.translating { try pool.writeWithoutTransaction { try Connections.settings(of: $0) } }
    }

    /// Runs SQLite's check over the whole file, and refuses all further writes if it finds a fault. Takes time in proportion to
    /// the size of the file; writes continue meanwhile.
    ///
    /// - Returns: the faults; empty for a sound database.
    package func examine() async throws -> [String] {
        let found = try await quickCheck()
        if let first = found.first {
            queue.fail(MerchantError(.storeUnavailable, "\(SQLiteErrors.damaged): \(first)"))
        }
        return found
    }

    /// As ``examine()``, without refusing writes.
    package func quickCheck() async throws -> [String] {
        do { return try await readTables { try Self.faults(in: $0) } } catch  where SQLiteErrors.isCorruption(error) {
            // The check itself fails if a whole tree of pages cannot be read.
            return [(SQLiteErrors.translated(error) as? MerchantError)?.detail ?? "\(error)"]
        } catch { throw SQLiteErrors.translated(error) }
    }

    /// - Parameter check: `integrity_check` also compares indexes with their tables, which takes several times as long.
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

// MARK: - Also with what no port offers

extension SQLiteStore {
    /// As ``read(_:)``, with access to every table.
    func readStore<Result: Sendable>(_ body: @escaping @Sendable (StoreReader) throws -> Result) async throws -> Result
    {
        do { return try await readTables { try body(StoreReader(db: $0)) } } catch { throw noted(error) }
    }

    /// As ``write(_:)``, with access to every table.
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

    /// Holds a reader only on a thread of the pool. GRDB's own asynchronous `read` holds one across a suspension; if every thread
    /// of Swift's pool then waited for a reader in ``readNow(_:)``, none would be released.
    func readTables<Result: Sendable>(_ body: @escaping @Sendable (Database) throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            pool.asyncRead { db in continuation.resume(with: Swift.Result { try body(try db.get()) }) }
        }
    }

    /// Translates the error of a read. After corruption is found, the store refuses all further writes.
    func noted(_ error: any Error) -> any Error {
        SQLiteErrors.isCorruption(error) ? queue.handled(error) : SQLiteErrors.translated(error)
    }
}
