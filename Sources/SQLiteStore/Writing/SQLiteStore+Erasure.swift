import GRDB
import MerchantCore
import Synchronization

extension SQLiteStore {
    /// How many times ``eraseRemovedBytes()`` tries to empty the write-ahead log before it fails.
    private static let erasureAttempts = 20
    /// How many milliseconds one attempt waits for readers that use the write-ahead log.
    private static let readerWaitMilliseconds = 250
    /// The length of a blob in bytes. A row with a blob of this length nearly fills a page of 4,096 bytes.
    private static let nearlyOnePage = 4000

    /// Removes the remaining copies of destroyed keys from the write-ahead log and from memory: checkpoints the log,
    /// truncates it to zero bytes, and then frees the caches of every connection. While readers use the log, tries up
    /// to 20 times to truncate it. Other writes run between two attempts.
    ///
    /// This method cannot remove the bytes from earlier copies of the files, or from disk blocks that the file system
    /// has freed.
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
            "the write-ahead log could not be truncated, because other reads used the log all the time: the log may still contain destroyed keys, try again"
        )
    }

    /// Calls ``eraseRemovedBytes()`` if its last call failed, or if there was no call since the start: the previous
    /// process may have been killed before it called that method.
    package func eraseRemovedBytesIfDue() async throws {
        guard erasureIsDue.load(ordering: .sequentiallyConsistent) else { return }
        try await eraseRemovedBytes()
    }

    /// Checkpoints and truncates the write-ahead log.
    ///
    /// - Returns: false if a reader still uses the log.
    /// - Throws: `storeUnavailable` if the store refuses writes, or if a file of the database was replaced.
    private func truncateLog() async throws -> Bool {
        try queue.requireWritesAccepted()
        do {
            return try await pool.writeWithoutTransaction { [queue] db in
                // If the database's file was removed or replaced, only the log contains the last changes, so the log is
                // not truncated.
                try queue.requireOriginalFiles()
                return try Self.checkpointAndTruncateLog(db)
            }
        } catch { throw queue.translatedAndRecorded(error) }
    }

    /// Checkpoints the write-ahead log and truncates it to length zero.
    ///
    /// - Returns: false if a reader still uses the log.
    static func checkpointAndTruncateLog(_ db: Database) throws -> Bool {
        try db.execute(sql: "PRAGMA busy_timeout = \(readerWaitMilliseconds)")
        defer { try? db.execute(sql: "PRAGMA busy_timeout = \(Connections.busyMilliseconds)") }
        do {
            try db.checkpoint(.truncate)
            return true
        } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
            return false
        }
    }

    /// Frees the pages and values in the connections' caches. `free` overwrites the freed memory: the target
    /// `CWipingAllocator` replaces glibc's `free`.
    private func freeCaches() async throws {
        do {
            // Closes the readers, which frees their caches. `pool.releaseMemory()` could deadlock: it waits for each
            // reader while it holds the lock that the reader needs to finish.
            pool.invalidateReadOnlyConnections()
            try await pool.writeWithoutTransaction { db in
                try Self.overwriteRowBuffer(db)
                db.releaseMemory()
            }
            await ReaderOpening.open(pool)
        } catch { throw queue.translatedAndRecorded(error) }
    }

    /// Overwrites the buffer in which the connection builds each new row, because the buffer still contains the last
    /// row. It has the size of one page, and SQLite does not free it while the connection is open. So this method
    /// inserts a row that nearly fills a page, and rolls the insertion back.
    private static func overwriteRowBuffer(_ db: Database) throws {
        try db.inTransaction {
            try db.execute(
                sql: """
                    INSERT INTO sealed_private_keys (seal_version, data_key_id, sealed_bytes, erased)
                    SELECT 1, id, zeroblob(\(nearlyOnePage)), 1 FROM data_keys LIMIT 1
                    """)
            return .rollback
        }
    }
}
