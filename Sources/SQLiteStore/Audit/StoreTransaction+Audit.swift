import GRDB
import MerchantCore
import Vocabulary

extension StoreTransaction {
    /// A sequence is never reused. If the last records were deleted from outside, the gap shows it.
    func append(_ entry: AuditEntry) throws {
        let last = try first("SELECT hash FROM audit WHERE sequence = (SELECT max(sequence) FROM audit)", []) {
            try $0.bytes("hash")
        }
        let record = AuditRecord(entry, sequence: try auditRecordsGiven() + 1, after: last ?? AuditRecord.genesis)
        try execute(AuditRow.insertion, AuditRow.values(record))
        note(AuditHead(sequence: record.sequence, hash: record.hash))
    }
}
