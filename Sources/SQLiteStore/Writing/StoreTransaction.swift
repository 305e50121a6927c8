import FoundationEssentials
import GRDB
import MerchantCore
import Vocabulary

/// One caller's transaction. It reads its own changes.
///
/// Each method checks first and throws a `MerchantError`; the constraints in `schema/` enforce the same rules.
final class StoreTransaction: StoreReading, RepositoryWriting {
    let db: Database
    /// The key pairs that the transaction changed.
    private(set) var changedKeys: Set<PublicKeyHash> = []
    /// Whether the transaction may have added events or deliveries.
    private(set) var changedEvents = false
    /// The new end of the audit, if it grew.
    private(set) var auditHead: AuditHead?
    /// The earliest time of an event while the clock is set back, so that the event is not removed too early.
    let earliestEvent: Timestamp?

    init(db: Database, earliestEvent: Timestamp? = nil) {
        self.db = db
        self.earliestEvent = earliestEvent
    }

    /// - Returns: the number of rows that the statement itself changed, without those that triggers changed.
    @discardableResult
    func execute(_ sql: String, _ arguments: StatementArguments) throws -> Int {
        try db.cachedStatement(sql: sql).execute(arguments: arguments)
        return db.changesCount
    }

    func noteChange(of hash: PublicKeyHash) { changedKeys.insert(hash) }

    func noteEvents() { changedEvents = true }

    func note(_ head: AuditHead) { auditHead = head }
}
