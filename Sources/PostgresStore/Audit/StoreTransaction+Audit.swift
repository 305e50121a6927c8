import MerchantCore
import StoreCore
import Vocabulary

extension StoreTransaction {
    /// Appends a record to the audit, after the record that the row `audit_head` names. The transaction has locked that
    /// row. If another program has deleted the last records, their sequences are not reused, and the gap shows the
    /// deletion.
    func append(_ entry: AuditEntry) throws {
        guard let last = changes.auditHead ?? auditHead else {
            throw MerchantError(
                .internalError,
                "the transaction did not lock the audit, so it cannot append to it, and nothing was changed: report this error"
            )
        }
        var entry = entry
        entry.node = node
        let record = AuditRecord(entry, sequence: last.sequence + 1, after: last.hash)
        try executeLater(
            """
            INSERT INTO audit (\(AuditRow.columns))
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
            """, AuditRow.values(record))
        changes.note(record)
    }
}
