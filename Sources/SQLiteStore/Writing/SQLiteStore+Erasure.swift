import GRDB
import MerchantCore
import Synchronization

extension SQLiteStore {
    /// How often ``eraseRemovedBytes()`` tries to empty the write-ahead log.
    private static let erasureAttempts = 20
    /// How long one attempt waits until no reader uses the write-ahead log, in milliseconds.
    private static let readerWait = 250
    /// In bytes. A row with a blob of this length nearly fills a page of 4,096 bytes.
    private static let cellSpace = 4000

    /// Removes the remaining copies of destroyed keys from the write-ahead log and from memory: checkpoints the log,
    /// truncates it to zero bytes, and frees the caches of every connection. Other writes continue between two
    /// attempts.
    ///
    /// Earlier copies of the files still hold the bytes, and so do blocks that the file system has freed.
    ///
    /// - Throws: `storeUnavailable` if readers used an older state of the database during all attempts.
    package func eraseRemovedBytes() async throws {
        do {
            for _ in 0..<Self.erasureAttempts where try await truncateLog() {
                try await freeCaches()
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

    /// Calls ``eraseRemovedBytes()`` if its last call failed, or if it has not been called since the start. The
    /// previous process may have been killed before it erased.
    package func eraseRemovedBytesIfDue() async throws {
        guard erasureIsDue.load(ordering: .sequentiallyConsistent) else { return }
        try await eraseRemovedBytes()
    }

    /// - Returns: false if a reader still uses the log.
    private func truncateLog() async throws -> Bool {
        try queue.requireReady()
        do {
            return try await pool.writeWithoutTransaction { [queue] db in
                // If the database's file was removed or replaced, only the log holds the last changes, so it is kept.
                try queue.requireInPlace()
                return try Self.emptyLog(db)
            }
        } catch { throw queue.handled(error) }
    }

    /// Checkpoints the write-ahead log and truncates it to length zero.
    ///
    /// - Returns: false if a reader still uses the log.
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
    private func freeCaches() async throws {
        do {
            // `pool.releaseMemory()` could deadlock: it waits for each reader while it holds the lock that a reader
            // needs to finish.
            pool.invalidateReadOnlyConnections()
            try await pool.writeWithoutTransaction { db in
                try Self.overwriteCellSpace(db)
                db.releaseMemory()
            }
        } catch { throw queue.handled(error) }
    }

    /// Overwrites the last row that the connection built. SQLite builds each row in a buffer of one page, which the
    /// connection never frees. A new row that nearly fills the page overwrites the buffer, and the rollback leaves the
    /// database unchanged.
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
