import MerchantCore
import Vocabulary

extension StoreTransaction {
    /// Appends a record to the audit, after the record that the row `audit_head` names. The transaction has locked that
    /// row. If another program has deleted the last records, their sequences are not reused, and the gap shows the
    /// deletion.
    func append(_ entry: AuditEntry) throws {
        let last = try firstRow("SELECT sequence, hash FROM audit_head WHERE id = 1", []) {
            (sequence: try $0.integer("sequence"), hash: try $0.bytes("hash"))
        }
        guard let last else {
            throw MerchantError(.storeUnavailable, "the database has no row in the table audit_head: restore a backup")
        }
        let record = AuditRecord(entry, sequence: last.sequence + 1, after: last.hash)
        try execute(AuditRow.insertion, AuditRow.values(record))
        noteAuditRecord(AuditHead(sequence: record.sequence, hash: record.hash), entry.action)
    }
}
