import GRDB
import MerchantCore
import Synchronization

extension SQLiteStore {
    private static let erasureAttempts = 20
    /// How long one attempt waits for readers, in milliseconds.
    private static let readerWait = 250
    /// The size of a row that, with its other columns, fits into a page of 4,096 bytes.
    private static let cellSpace = 4000

    /// Removes erased bytes from the write-ahead log and from memory: checkpoints the log, truncates it, and frees the memory of
    /// every connection.
    ///
    /// Earlier copies of the files, and blocks that the file system has freed, still hold the bytes. Other writes continue
    /// between two attempts.
    ///
    /// - Throws: `storeUnavailable` if readers used an older state of the database during all attempts.
    package func eraseRemovedBytes() async throws {
        do {
            for _ in 0..<Self.erasureAttempts where try await truncateLog() {
                try await forget()
                erasureIsDue.store(false, ordering: .sequentiallyConsistent)
                return
            }
        } catch {
            erasureIsDue.store(true, ordering: .sequentiallyConsistent)
            throw error
        }
        erasureIsDue.store(true, ordering: .sequentiallyConsistent)
        throw MerchantError(
            .storeUnavailable,
            "the write-ahead log could not be emptied because readers kept it in use: erased keys may still be in it, try again"
        )
    }

    /// Completes an erasure that an earlier ``eraseRemovedBytes()`` or a killed process did not. Runs one after each start in any
    /// case.
    package func eraseRemovedBytesIfDue() async throws {
        guard erasureIsDue.load(ordering: .sequentiallyConsistent) else { return }
        try await eraseRemovedBytes()
    }

    /// - Returns: false if a reader prevented it.
    private func truncateLog() async throws -> Bool {
        try queue.requireReady()
        do {
            return try await pool.writeWithoutTransaction { [queue] db in
                // If the database's file is gone, only the log holds the last changes.
                try queue.requireInPlace()
                return try Self.emptyLog(db)
            }
        } catch { throw queue.handled(error) }
    }

    /// Checkpoints the write-ahead log and truncates it to length zero.
    ///
    /// - Returns: false if a reader prevented it.
    static func emptyLog(_ db: Database) throws -> Bool {
        try db.execute(sql: "PRAGMA busy_timeout = \(readerWait)")
        defer { try? db.execute(sql: "PRAGMA busy_timeout = \(Connections.busyMilliseconds)") }
        do {
            try db.checkpoint(.truncate)
            return true
        } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
            return false
        }
    }

    /// Frees the pages and values in the connections' caches. The program's `free` overwrites them.
    private func forget() async throws {
        do {
            // Not `pool.releaseMemory()`, which waits for each reader while it holds the lock that a reader needs to finish.
            pool.invalidateReadOnlyConnections()
            try await pool.writeWithoutTransaction { db in
                try Self.overwriteCellSpace(db)
                db.releaseMemory()
            }
        } catch { throw queue.handled(error) }
    }

    /// A connection builds each row in a buffer of one page, which it never frees. Building the longest row that fits overwrites
    /// the last row in the buffer; the rollback leaves the database unchanged.
    private static func overwriteCellSpace(_ db: Database) throws {
        try db.inTransaction {
            try db.execute(
                sql: """
                    INSERT INTO sealed_private_keys (seal_version, data_key_id, sealed_bytes, erased)
                    SELECT 1, id, zeroblob(\(cellSpace)), 1 FROM data_keys LIMIT 1
                    """)
            return .rollback
        }
    }
}
