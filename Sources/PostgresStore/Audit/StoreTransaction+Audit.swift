import MerchantCore
import StoreCore
import Vocabulary

extension StoreTransaction {
    /// Appends a record to the audit, after the record that the row `audit_head` names. The transaction has locked that
    /// row. If another program has deleted the last records, their sequences are not reused, and the gap shows the
    /// deletion.
    func append(_ entry: AuditEntry) throws {
        guard let last = try firstRow("SELECT sequence, hash FROM audit_head WHERE id = 1", [], AuditRow.head) else {
            throw MerchantError(.storeUnavailable, "the database has no row in the table audit_head: restore a backup")
        }
        var entry = entry
        entry.node = node
        let record = AuditRecord(entry, sequence: last.sequence + 1, after: last.hash)
        try execute(
            """
            INSERT INTO audit (\(AuditRow.columns))
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
            """, AuditRow.values(record))
        changes.note(record)
    }
}
