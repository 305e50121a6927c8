import MerchantCore
import StoreCore
import Vocabulary

/// One caller's transaction. Its reads see its own changes.
///
/// Each method first checks the rules of the data, and throws a `MerchantError` that names the violated rule. The
/// constraints and triggers in `schema/` enforce the same rules for every program that writes to the database, except
/// ``KeyPair/mostPendingAndActive``.
final class StoreTransaction: StoreReading, RepositoryWriting {
    let connection: Connection
    /// What the observers are notified of after the commit.
    var changes = StoreChanges()
    /// The earliest time that an event may get: ``ConfirmedTime/earliestEventTime``.
    let earliestEventTime: Timestamp?
    /// The name of this daemon, for the audit.
    let node: NodeName?
    /// The last record of the audit before this transaction; nil if the transaction does not lock the audit.
    let auditHead: AuditHead?

    init(
        connection: Connection, auditHead: AuditHead?, earliestEventTime: Timestamp? = nil, node: NodeName? = nil
    ) {
        self.connection = connection
        self.auditHead = auditHead
        self.earliestEventTime = earliestEventTime
        self.node = node
    }

    /// Executes an SQL statement. If the number of changed rows is not needed, use ``executeLater(_:_:)``.
    ///
    /// - Returns: the number of rows that the statement itself changed, without the rows that triggers changed.
    func execute(_ sql: String, _ arguments: Arguments) throws -> Int {
        try connection.query(sql, arguments).changedRows
    }

    /// Executes an SQL statement together with the next one, or at the end of the transaction. So the daemon waits for
    /// the server less often. If the statement fails, the call that sends it throws the error.
    func executeLater(_ sql: String, _ arguments: Arguments) throws { try connection.sendLater(sql, arguments) }

    /// Executes an SQL statement that inserts one row.
    ///
    /// - Returns: the id that the row got.
    func insertRow(_ sql: String, _ arguments: Arguments) throws -> Int64 {
        guard let row = try connection.query("\(sql) RETURNING id", arguments).first else {
            throw MerchantError(
                .internalError, "an insertion returned no row, and nothing was changed: report this error")
        }
        return try row.int64("id")
    }
}
