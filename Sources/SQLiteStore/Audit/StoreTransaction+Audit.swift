import GRDB
import MerchantCore
import Vocabulary

extension StoreTransaction {
    /// Appends a record with the sequence after the highest one ever assigned. If another program has deleted the last
    /// records, their sequences are not reused, and the gap shows the deletion.
    func append(_ entry: AuditEntry) throws {
        let last = try first("SELECT hash FROM audit WHERE sequence = (SELECT max(sequence) FROM audit)", []) {
            try $0.bytes("hash")
        }
        let record = AuditRecord(entry, sequence: try auditRecordsGiven() + 1, after: last ?? AuditRecord.genesis)
        try execute(AuditRow.insertion, AuditRow.values(record))
        note(AuditHead(sequence: record.sequence, hash: record.hash))
    }
}
