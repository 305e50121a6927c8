import GRDB
import MerchantCore
import StoreCore
import Vocabulary

/// One caller's transaction. Its reads see its own changes.
///
/// Each method first checks the rules of the data, and throws a `MerchantError` that names the violated rule. The
/// constraints and triggers in `schema/` enforce the same rules for every program that writes to the database, except
/// ``KeyPair/mostPendingAndActive``.
final class StoreTransaction: StoreReading, RepositoryWriting {
    let db: Database
    /// What the observers are notified of after the commit.
    var changes = StoreChanges()
    /// The earliest time that an event may get: ``ConfirmedTime/earliestEventTime``.
    let earliestEventTime: Timestamp?

    init(db: Database, earliestEventTime: Timestamp? = nil) {
        self.db = db
        self.earliestEventTime = earliestEventTime
    }

    /// Executes an SQL statement.
    ///
    /// - Returns: the number of rows that the statement itself changed, without the rows that triggers changed.
    @discardableResult
    func execute(_ sql: String, _ arguments: Arguments) throws -> Int {
        try db.execute(sql, arguments)
    }

    /// Executes an SQL statement that inserts one row.
    ///
    /// - Returns: the id that the row got.
    func insertRow(_ sql: String, _ arguments: Arguments) throws -> Int64 {
        try execute(sql, arguments)
        return db.lastInsertedRowID
    }
}
