import CSQLite
import FoundationEssentials
import GRDB
package import MerchantCore
import MetricsKit
import Schema
import Synchronization
import Vocabulary

/// Stores merchants, keys, rolls, registrations, events, the audit and the access to the portal in one SQLite database.
///
/// One connection writes, and up to ``Connections/maximumReaders`` connections read. When ``write(_:)`` returns, its
/// changes are on stable storage: the database has a write-ahead log, and `synchronous = FULL` syncs the log at each
/// commit. Only one process may open the database; the caller must ensure that.
package final class SQLiteStore: MerchantRepository, Sendable {
    /// The suffixes of all files of a database. A rollback journal (`-journal`) exists only if the creation of a
    /// database was interrupted. When a database is removed or replaced, its journal must be removed too: SQLite would
    /// apply the journal to the new database.
    package static let fileSuffixes = ["", "-wal", "-shm", "-journal"]

    /// The path of the database; its write-ahead log and shared memory are in the same directory.
    package let path: String
    private let openedFiles: DatabaseFile.OpenedFiles
    let pool: DatabasePool
    let queue: WriteQueue
    /// Whether the write-ahead log may contain copies of destroyed keys. True at start, because the previous process
    /// may have been killed between the destruction of a key and the truncation of the log.
    let erasureIsDue = Atomic(true)

    /// - Parameters:
    ///   - clock: gives the time at which writes began to fail, for ``health``.
    ///   - confirmedTime: the daemon's own count of time, which does not change when the machine's clock is set. If the
    ///     machine's clock was set back, events get this time. If nil, events keep the time of the machine's clock.
    package init(
        _ database: OpenedDatabase, clock: any WallClock, observers: StoreObservers = StoreObservers(),
        confirmedTime: ConfirmedTime? = nil
    ) {
        openedFiles = database.openedFiles
        path = openedFiles.path
        pool = database.pool
        queue = WriteQueue(
            pool: pool, openedFiles: openedFiles, clock: clock, observers: observers, confirmedTime: confirmedTime)
    }

    /// Opens a database and builds a store with it. A caller that needs values from the database to build the store
    /// opens an ``OpenedDatabase`` first.
    package static func open(
        path: String, clock: any WallClock = SystemClock(), observers: StoreObservers = StoreObservers(),
        trace: (@Sendable (String) -> Void)? = nil, migrations: [(name: String, sql: String)] = Schema.migrations
    ) throws -> SQLiteStore {
        SQLiteStore(
            try OpenedDatabase(path: path, clock: clock, trace: trace, migrations: migrations), clock: clock,
            observers: observers)
    }

    /// Begins to open all reading connections, so that decryptors are still served if the database's files are moved or
    /// removed later. Other reads may wait until all connections are open, for 5 seconds at most.
    ///
    /// Call ``wait(for:)`` before ``close()``. Otherwise ``close()`` could take 5 seconds: one read is started for each
    /// connection, each read waits until all have begun, and ``close()`` lets no further read begin.
    package func openReaders() -> ReaderOpening { ReaderOpening(pool) }

    /// Blocks the calling thread until the opening has ended.
    ///
    /// - Throws: ``MerchantError`` if a connection could not be opened. If the storage failed, the store refuses all
    ///   further writes.
    package func wait(for opening: ReaderOpening) throws {
        do { try opening.wait() } catch {
            _ = queue.translatedAndRecorded(error)
            throw SQLiteErrors.translated(error, at: path)
        }
    }

    /// Whether writes succeed, and if not, why.
    package var health: StoreHealth { queue.health }

    /// Counts the audit records since the store was opened.
    var auditedActions: LabeledCounter<AuditAction> { queue.auditedActions }

    var metricsSource: StoreMetrics.Database {
        StoreMetrics.Database(
            name: "merchants", metrics: queue.metrics, waiting: { [queue] in queue.waitingCount }, path: path)
    }

    /// Checks that the paths of the database and its write-ahead log still name the opened files. If a path names
    /// another file or none, the store refuses all further writes.
    ///
    /// - Returns: nil if the database's path names the opened file. Otherwise the inode of the opened file, to which
    ///   the write-ahead log belongs.
    package func checkForReplacement() -> UInt64? {
        // The error is ignored here, because the queue has recorded it and refuses all further writes.
        try? queue.requireOriginalFiles()
        return openedFiles.inodeIfReplaced
    }

    /// Refuses new writes, commits the waiting writes, checkpoints the write-ahead log, and closes the database.
    package func close() throws {
        queue.finish()
        checkpointAtClose()
        if queue.isUnreliable {
            // After a failed sync, the log in memory may differ from the log on the disk, so no checkpoint may copy the
            // log into the database. At the next start, SQLite verifies the checksum of each frame in the log.
            pool.writeWithoutTransaction { db in
                if let connection = db.sqliteConnection { _ = csqlite_keep_log_on_close(connection) }
            }
        } else {
            // SQLite removes the log when the last connection closes, but only if that connection can write. GRDB
            // closes the writer first, so the readers must be closed before that.
            pool.invalidateReadOnlyConnections()
        }
        try SQLiteErrors.translating { try pool.close() }
    }

    /// Checkpoints the write-ahead log before the database is closed.
    ///
    /// When the last connection closes, SQLite checkpoints only if this connection can write. But if a thread still
    /// uses a reader, the reader closes last. If another program reads the database or the disk is full, the checkpoint
    /// here fails, too, and the log keeps its content until the next start.
    private func checkpointAtClose() {
        guard openedFiles.inodeIfReplaced == nil, !queue.isUnreliable else { return }
        do { try pool.barrierWriteWithoutTransaction { _ = try Self.checkpointAndTruncateLog($0) } } catch {
            // If the storage failed, this call marks the store as unreliable, so that ``close()`` keeps the log.
            _ = queue.translatedAndRecorded(error)
        }
    }

    /// SQLite's settings on the writing connection, for tests.
    package func settings() throws -> [String: String] {
        try queue.requireWritesAccepted()
        return try SQLiteErrors.translating { try pool.writeWithoutTransaction { try Connections.settings(of: $0) } }
    }

    /// Runs SQLite's `quick_check` and `foreign_key_check` on the whole database. If they find a fault, the store
    /// refuses all further writes. The check reads the whole database; other reads and writes continue meanwhile.
    ///
    /// - Returns: the faults; empty if there are none.
    package func quickCheckRefusingWritesIfDamaged() async throws -> [String] {
        let found = try await quickCheck()
        if let first = found.first {
            queue.fail(MerchantError(.storeUnavailable, "\(SQLiteErrors.damaged(.merchants)): \(first)"))
        }
        return found
    }

    /// Runs the same checks as ``quickCheckRefusingWritesIfDamaged()``, but the store continues to accept writes if the
    /// checks find a fault.
    package func quickCheck() async throws -> [String] {
        do { return try await readTables { try Self.faults(in: $0) } } catch  where SQLiteErrors.isCorruption(error) {
            // If SQLite cannot read all pages of a table or index, the check itself fails. This failure is a fault,
            // too.
            return [(SQLiteErrors.translated(error) as? MerchantError)?.detail ?? "\(error)"]
        } catch { throw SQLiteErrors.translated(error) }
    }

    /// Runs SQLite's `foreign_key_check` and one more of SQLite's checks.
    ///
    /// - Parameter check: the other check: `quick_check`; or `integrity_check`, which also compares indexes with their
    ///   tables, and takes several times as long.
    /// - Returns: the faults; empty if there are none.
    static func faults(in db: Database, byCheck check: String = "quick_check") throws -> [String] {
        // A fault can have several lines, and a finding has one.
        try String.fetchAll(db, sql: "PRAGMA \(check)").filter { $0 != "ok" }.map { $0.replacing("\n", with: " ") }
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
        do { return try pool.read { try body(StoreReader(db: $0)) } } catch { throw translatedReadError(error) }
    }

    /// Commits the changes of `body` in one transaction. Cancelling the task does not cancel a write.
    package func write<Result: Sendable>(
        _ body: @escaping @Sendable (any RepositoryWriting) throws -> Result
    ) async throws -> Result { try await writeStore { try body($0) } }
}

// MARK: - Reading and writing with all queries of this module

extension SQLiteStore {
    /// As ``read(_:)``, but `body` can also use the queries that `RepositoryReading` does not declare.
    func readStore<Result: Sendable>(_ body: @escaping @Sendable (StoreReader) throws -> Result) async throws -> Result
    {
        do { return try await readTables { try body(StoreReader(db: $0)) } } catch { throw translatedReadError(error) }
    }

    /// As ``write(_:)``, but `body` can also use the statements that `RepositoryWriting` does not declare.
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

    /// Reads the tables on a thread of GRDB. That thread returns the connection to the pool without waiting for the
    /// calling task.
    ///
    /// GRDB's own asynchronous `read` keeps its connection while the task is suspended, which can cause a deadlock. If
    /// every thread of Swift's concurrency pool waited for a connection in ``readNow(_:)``, no thread could resume the
    /// task, and no connection would be returned.
    func readTables<Result: Sendable>(_ body: @escaping @Sendable (Database) throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            pool.asyncRead { db in continuation.resume(with: Swift.Result { try body(try db.get()) }) }
        }
    }

    /// Translates the error of a read to a `MerchantError`. If the error shows that the database is corrupt, the store
    /// also refuses all further writes.
    func translatedReadError(_ error: any Error) -> any Error {
        SQLiteErrors.isCorruption(error) ? queue.translatedAndRecorded(error) : SQLiteErrors.translated(error)
    }
}
