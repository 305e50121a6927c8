import CSQLite
import GRDB
package import MerchantCore
import Schema

/// An open database with the current schema, which can be read before a ``SQLiteStore`` is built with it.
///
/// It is a type of its own because building a store needs values from its database, such as the last confirmed time.
package struct OpenedDatabase: Sendable {
    let place: DatabaseFile.Place
    let pool: DatabasePool

    /// Opens the database, creates it if there is none, and upgrades its schema.
    ///
    /// - Parameters:
    ///   - clock: gives the time that is stored with each applied migration.
    ///   - trace: receives the text of each statement, without its values, on the thread that runs it.
    ///   - migrations: the migrations of the schema, oldest first; tests pass their own.
    /// - Throws: ``MerchantError`` `storeUnavailable` for a file that other users may read or write, that another
    ///   program created, or that a newer version of this program wrote. Such a file is not changed.
    package init(
        path: String, clock: any WallClock, trace: (@Sendable (String) -> Void)? = nil,
        migrations: [(name: String, sql: String)] = Schema.migrations
    ) throws {
        (place, pool) = try SQLiteErrors.translating {
            // SQLite gives names such as ":memory:" a special meaning, but not paths that begin with "./".
            let path = path.hasPrefix("/") ? path : "./" + path
            try DatabaseFile.prepare(at: path)
            let place = try DatabaseFile.Place(of: path)
            let pool = try Connections.open(place, trace: trace)
            try pool.writeWithoutTransaction { db in
                try Migrations.apply(migrations, to: db, kind: .merchants, at: clock.now)
            }
            place.rememberLog()
            return (place, pool)
        }
    }

    /// Checks that the database's files are in their places.
    ///
    /// - Returns: the inode of the opened file if its path names another file or none.
    package func checkPlace() -> UInt64? {
        try? place.require()
        return place.replaced
    }

    /// Reads on the calling thread, and blocks it. If the read fails, closes the database and keeps its write-ahead log.
    package func readOrClose<Result>(_ body: (any RepositoryReading) throws -> Result) throws -> Result {
        do { return try pool.read { try body(StoreReader(db: $0)) } } catch {
            // The file may be damaged: a checkpoint would write the log's pages into it and remove the log.
            pool.writeWithoutTransaction { db in
                if let connection = db.sqliteConnection { _ = csqlite_leave_log(connection) }
            }
            try? pool.close()
            throw SQLiteErrors.translated(error)
        }
    }
}
