import FoundationEssentials
import GRDB
import MerchantCore
import Vocabulary

/// One caller's transaction. Its reads see its own changes.
///
/// Each method first checks the rules of the data and throws a `MerchantError` that names the broken rule. The
/// constraints and triggers in `schema/` enforce the same rules for every program.
final class StoreTransaction: StoreReading, RepositoryWriting {
    let db: Database
    /// The key pairs that the transaction changed. The store notifies observers of them after the commit.
    private(set) var changedKeys: Set<PublicKeyHash> = []
    /// Whether the transaction may have added events or deliveries. If so, the store notifies the event observer after
    /// the commit.
    private(set) var changedEvents = false
    /// The last audit record that the transaction appended; nil if it appended none.
    private(set) var auditHead: AuditHead?
    /// While the machine's clock is set back, an event gets this time if its own time is earlier. Events are removed by
    /// age, so an event with too early a time would be removed too early. nil while the clock is right.
    let earliestEventTime: Timestamp?

    init(db: Database, earliestEventTime: Timestamp? = nil) {
        self.db = db
        self.earliestEventTime = earliestEventTime
    }

    /// - Returns: the number of rows that the statement itself changed, without the rows that triggers changed.
    @discardableResult
    func execute(_ sql: String, _ arguments: StatementArguments) throws -> Int {
        try db.cachedStatement(sql: sql).execute(arguments: arguments)
        return db.changesCount
    }

    func noteChange(of hash: PublicKeyHash) { changedKeys.insert(hash) }

    func markEventsChanged() { changedEvents = true }

    func note(_ head: AuditHead) { auditHead = head }
}
