import FoundationEssentials
import GRDB
import MerchantCore
import Vocabulary

/// Converts an audit record to and from its row in `audit`.
enum AuditRow {
    static let columns =
        "sequence, action, caller_uid, caller_gid, caller_pid, caller_program, at, merchant_identifier, public_key_hash, value_before, value_after, reason, request_id, previous_hash, hash"

    static func record(_ row: Row) throws -> AuditRecord {
        let caller = Caller(
            uid: try row.decode(UInt32.self, forColumn: "caller_uid"),
            gid: try row.decode(UInt32.self, forColumn: "caller_gid"),
            pid: try row.decode(Int32.self, forColumn: "caller_pid"), program: try row.text("caller_program"))
        let entry = AuditEntry(
            try row.oneOf(AuditAction.self, "action"), by: caller, at: try row.timestamp("at"),
            merchant: try row.merchantIdentifierIfAny(), key: try row.publicKeyHashIfAny(),
            before: try row.textIfAny("value_before"), after: try row.textIfAny("value_after"),
            reason: try row.textIfAny("reason"), requestId: try row.textIfAny("request_id"))
        return AuditRecord(
            sequence: try row.integer("sequence"), entry: entry, previousHash: try row.bytes("previous_hash"),
            hash: try row.bytes("hash"))
    }

    static let insertion = "INSERT INTO audit (\(columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"

    static func values(_ record: AuditRecord) -> StatementArguments {
        let entry = record.entry
        return [
            record.sequence, entry.action.rawValue, entry.caller.uid, entry.caller.gid, entry.caller.pid,
            entry.caller.program, entry.at.millisecondsSince1970, entry.merchantIdentifier?.rawValue,
            entry.publicKeyHash?.data, entry.before, entry.after, entry.reason, entry.requestId,
            Data(record.previousHash), Data(record.hash),
        ]
    }
}
