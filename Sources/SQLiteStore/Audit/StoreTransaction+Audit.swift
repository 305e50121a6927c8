import MerchantCore
import StoreCore
import Vocabulary

extension StoreTransaction {
    /// Appends a record to the audit. The record's sequence (its number) follows the highest sequence ever assigned. If
    /// another program has deleted the last records, their sequences are not reused, and the gap shows the deletion.
    func append(_ entry: AuditEntry) throws {
        let last = try firstRow("SELECT hash FROM audit WHERE sequence = (SELECT max(sequence) FROM audit)", []) {
            try $0.bytes("hash")
        }
        let record = AuditRecord(entry, sequence: try highestAssignedSequence() + 1, after: last ?? AuditRecord.genesis)
        try execute(
            """
            INSERT INTO audit (\(AuditRow.columns))
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, AuditRow.values(record))
        changes.note(record)
    }
}
