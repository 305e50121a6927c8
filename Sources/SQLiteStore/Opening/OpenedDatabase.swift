import CSQLite
import GRDB
package import MerchantCore
import Schema

/// An open database with the current schema, from which a ``SQLiteStore`` is built.
///
/// Opening and building are two steps, because the store's initializer needs values from the database, such as the last
/// confirmed time.
package struct OpenedDatabase: Sendable {
    let openedFiles: DatabaseFile.OpenedFiles
    let pool: DatabasePool

    /// Opens the database, creates it if there is none, and upgrades its schema.
    ///
    /// - Parameters:
    ///   - clock: gives the time that is stored with each applied migration.
    ///   - trace: receives the text of each statement, without its values, on the thread that runs the statement.
    ///   - migrations: the migrations of the schema, oldest first; tests pass their own.
    /// - Throws: ``MerchantError`` `storeUnavailable` for a file that other users can access, that another program
    ///   created, or that a newer version of this program wrote. Such a file is not changed.
    package init(
        path: String, clock: any WallClock, trace: (@Sendable (String) -> Void)? = nil,
        migrations: [(name: String, sql: String)] = Schema.migrations
    ) throws {
        (openedFiles, pool) = try SQLiteErrors.translating(at: path) {
            // SQLite gives names such as ":memory:" a special meaning, but not paths that begin with "./".
            let path = path.hasPrefix("/") ? path : "./" + path
            try DatabaseFile.createOrCheck(at: path)
            let openedFiles = try DatabaseFile.OpenedFiles(of: path)
            let pool = try Connections.open(openedFiles, trace: trace)
            try pool.writeWithoutTransaction { db in
                try Migrations.apply(migrations, to: db, kind: .merchants, at: clock.now)
            }
            openedFiles.recordWriteAheadLogIdentity()
            return (openedFiles, pool)
        }
    }

    /// Checks whether the database's file was removed or replaced since it was opened.
    ///
    /// - Returns: the inode of the opened file, if its path now names another file or no file; otherwise nil.
    package func checkForReplacement() -> UInt64? { openedFiles.inodeIfReplaced }

    /// Reads on the calling thread, and blocks that thread. If the read fails, closes the database and keeps its
    /// write-ahead log.
    package func readOrClose<Result>(_ body: (any RepositoryReading) throws -> Result) throws -> Result {
        do { return try pool.read { try body(StoreReader(db: $0)) } } catch {
            // The database file may be damaged. A checkpoint would write the log's pages into that file and remove the
            // log, which may be needed for the repair.
            pool.writeWithoutTransaction { db in
                if let connection = db.sqliteConnection { _ = csqlite_keep_log_on_close(connection) }
            }
            try? pool.close()
            throw SQLiteErrors.translated(error)
        }
    }
}
