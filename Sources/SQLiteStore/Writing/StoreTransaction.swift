import FoundationEssentials
import GRDB
import MerchantCore
import Vocabulary

/// One caller's change; it sees what it has changed so far.
///
/// Each method looks first and refuses in the domain's words; the constraints of `schema/` stand behind it.
final class StoreTransaction: StoreReading, MerchantTransaction {
    let db: Database
    /// Which key pairs are no longer as they were.
    private(set) var changedKeys: Set<PublicKeyHash> = []
    /// Whether there may be more events to list or to deliver.
    private(set) var changedEvents = false
    /// Where the audit ends by now, if it grew.
    private(set) var auditHead: AuditHead?
    /// While the clock is set back: the time that an event gets at least. Else it would be removed too early.
    let earliestEvent: Timestamp?

    init(db: Database, earliestEvent: Timestamp? = nil) {
        self.db = db
        self.earliestEvent = earliestEvent
    }

    /// - Returns: how many rows the statement itself changed, triggers left out.
    @discardableResult
    func execute(_ sql: String, _ arguments: StatementArguments) throws -> Int {
        try db.cachedStatement(sql: sql).execute(arguments: arguments)
        return db.changesCount
    }

    func noteChange(of hash: PublicKeyHash) { changedKeys.insert(hash) }

    func noteEvents() { changedEvents = true }

    func note(_ head: AuditHead) { auditHead = head }
}

// MARK: - Merchants

extension StoreTransaction {
    func insert(_ merchant: Merchant) throws {
        if let stored = try self.merchant(merchant.identifier) {
            throw MerchantError(
                .merchantExists,
                "merchant \(merchant.identifier) exists since \(stored.createdAt)\(stored.removedAt.map { " and was removed at \($0)" } ?? ""), expected an identifier that was never used"
            )
        }
        try execute(MerchantRow.insertion, MerchantRow.values(merchant))
    }

    func update(_ merchant: Merchant) throws {
        if merchant.removedAt != nil, let active = try activeKeyPairs(of: merchant.identifier), active > 0 {
            throw MerchantError(
                .merchantInUse,
                "merchant \(merchant.identifier) has \(active) active key pair\(active == 1 ? "" : "s"), expected none")
        }
        let changed = try execute(
            "UPDATE merchants SET name = ?, target_active_key_pairs = ?, removed_at = ? WHERE identifier = ?",
            [
                merchant.name, merchant.targetActiveKeyPairs, merchant.removedAt?.millisecondsSince1970,
                merchant.identifier.rawValue,
            ])
        guard changed == 1 else {
            throw MerchantError(.merchantNotFound, "there is no merchant \(merchant.identifier)")
        }
    }

    private func activeKeyPairs(of merchant: MerchantIdentifier) throws -> Int? {
        try first("SELECT active_key_pairs FROM merchants WHERE identifier = ?", [merchant.rawValue]) {
            try $0.integer("active_key_pairs")
        }
    }
}
