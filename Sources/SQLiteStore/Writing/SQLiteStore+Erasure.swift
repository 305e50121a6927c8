import GRDB
import MerchantCore
import Synchronization

extension SQLiteStore {
    /// How many times ``eraseCopiesOfDestroyedSecrets()`` tries to truncate the write-ahead log before it throws an
    /// error.
    private static let truncationAttempts = 20
    /// How long, in milliseconds, one attempt waits for readers that use the write-ahead log.
    private static let readerWaitMilliseconds = 250
    /// The length in bytes of the blob in ``overwriteRowBuffer(_:)``. A row with this blob nearly fills a page of 4,096
    /// bytes.
    private static let blobLength = 4000

    /// Removes the remaining copies of destroyed keys from the write-ahead log and from memory: checkpoints the log,
    /// truncates it to zero bytes, and then frees the caches of every connection. SQLite cannot truncate the log while
    /// a reader uses it, so this method tries up to 20 times. Other writes can run between two attempts.
    ///
    /// This method cannot remove the bytes from earlier copies of the files, or from disk blocks that the file system
    /// has freed.
    ///
    /// - Throws: `storeUnavailable` if readers used the log during all attempts, if the store refuses writes, or if a
    ///   file of the database was replaced.
    package func eraseCopiesOfDestroyedSecrets() async throws {
        do {
            for _ in 0..<Self.truncationAttempts where try await truncateLog() {
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

    /// Calls ``eraseCopiesOfDestroyedSecrets()`` if the last call of that method failed, or if this process has not
    /// called it yet. The previous process may have been killed after it destroyed a key and before it truncated the
    /// log.
    package func eraseCopiesOfDestroyedSecretsIfDue() async throws {
        guard erasureIsDue.load(ordering: .sequentiallyConsistent) else { return }
        try await eraseCopiesOfDestroyedSecrets()
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
    /// row. The buffer has the size of one page, and SQLite does not free it while the connection is open. So this
    /// method inserts a row that nearly fills a page, and rolls the insertion back.
    private static func overwriteRowBuffer(_ db: Database) throws {
        try db.inTransaction {
            try db.execute(
                sql: """
                    INSERT INTO sealed_private_keys (seal_version, data_key_id, sealed_bytes, erased)
                    SELECT 1, id, zeroblob(\(blobLength)), 1 FROM data_keys LIMIT 1
                    """)
            return .rollback
        }
    }
}
