import MerchantCore
import Vocabulary

/// One caller's transaction. Its reads see its own changes.
///
/// Each method first checks the rules of the data, and throws a `MerchantError` that names the violated rule. The
/// constraints and triggers in `schema/` enforce the same rules for every program that writes to the database.
final class StoreTransaction: StoreReading, RepositoryWriting {
    let connection: Connection
    /// The key pairs that the transaction changed. After the commit, the store passes them to the observers.
    private(set) var changedKeys: Set<PublicKeyHash> = []
    /// Whether the transaction may have added events or deliveries to webhooks. If so, the store notifies the event
    /// observer after the commit.
    private(set) var mayHaveNewEvents = false
    /// The last audit record that the transaction appended; nil if it appended none.
    private(set) var auditHead: AuditHead?
    /// The actions of the audit records that the transaction appended.
    private(set) var auditedActions: [AuditAction] = []
    /// The earliest time that an event may get, if the machine's clock was set back; nil while the clock is right.
    /// Events are removed by age, so an event with a time that is too early would be removed too early.
    let earliestEventTime: Timestamp?

    init(connection: Connection, earliestEventTime: Timestamp? = nil) {
        self.connection = connection
        self.earliestEventTime = earliestEventTime
    }

    /// Executes an SQL statement.
    ///
    /// - Returns: the number of rows that the statement itself changed, without the rows that triggers changed.
    @discardableResult
    func execute(_ sql: String, _ arguments: Arguments) throws -> Int {
        try connection.query(sql, arguments).changedRows
    }

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

    func noteKeyPairChange(of hash: PublicKeyHash) { changedKeys.insert(hash) }

    func noteEventChange() { mayHaveNewEvents = true }

    func noteAuditRecord(_ head: AuditHead, _ action: AuditAction) {
        auditHead = head
        auditedActions.append(action)
    }
}
