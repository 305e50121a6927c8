import GRDB
import MerchantCore
import Synchronization

extension SQLiteStore {
    /// How often, and how long each time, readers are waited for.
    private static let erasureAttempts = 20
    private static let patience = 250
    /// Bytes of a row that fit into a page of 4,096 beside its other columns, without another page.
    private static let cellSpace = 4000

    /// Carries the write-ahead log into the database and cuts it to nothing, so that neither holds what was erased, and gives
    /// back the memory of every connection.
    ///
    /// Copies made earlier, and blocks that the file system gave up, still hold it. Between attempts other writes go on.
    ///
    /// - Throws: `storeUnavailable` where readers kept an older moment of the database open all the time.
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

    /// Does what an earlier ``eraseRemovedBytes()`` could not, or a process that was killed left undone; once a start, in any case.
    package func eraseRemovedBytesIfDue() async throws {
        guard erasureIsDue.load(ordering: .sequentiallyConsistent) else { return }
        try await eraseRemovedBytes()
    }

    /// - Returns: false where a reader was in the way.
    private func truncateLog() async throws -> Bool {
        try queue.requireReady()
        do {
            return try await pool.writeWithoutTransaction { [queue] db in
                // The log may be all that is left of what was stored last.
                try queue.requireInPlace()
                return try Self.emptyLog(db)
            }
        } catch { throw queue.handled(error) }
    }

    /// Carries the write-ahead log into the database and cuts it to nothing.
    ///
    /// - Returns: false where a reader was in the way.
    static func emptyLog(_ db: Database) throws -> Bool {
        try db.execute(sql: "PRAGMA busy_timeout = \(patience)")
        defer { try? db.execute(sql: "PRAGMA busy_timeout = \(Connections.busyMilliseconds)") }
        do {
            try db.checkpoint(.truncate)
            return true
        } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
            return false
        }
    }

    /// Frees the pages and values that the connections remember; what is freed is overwritten where the program does so.
    private func forget() async throws {
        do {
            // Not `pool.releaseMemory()`: it waits for each reader and keeps the lock by which a reader is given back.
            pool.invalidateReadOnlyConnections()
            try await pool.writeWithoutTransaction { db in
                try Self.overwriteCellSpace(db)
                db.releaseMemory()
            }
        } catch { throw queue.handled(error) }
    }

    /// A connection builds each row in a space of one page, which it keeps to its end: the longest row that fits takes the
    /// place of whatever was stored last. Nothing of this is written.
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
