package import MerchantCore
import Vocabulary

/// Converts an audit record to and from its row in `audit`.
package enum AuditRow {
    package static let columns = """
        sequence, action, caller, caller_gid, caller_pid, caller_program, caller_address, at, merchant_identifier,
        public_key_hash, value_before, value_after, reason, request_id, node, previous_hash, hash
        """

    package static func record(_ row: some StoredRow) throws -> AuditRecord {
        let entry = AuditEntry(
            try row.oneOf(AuditAction.self, "action"), by: try caller(row), at: try row.timestamp("at"),
            merchant: try row.merchantIdentifierIfAny(), key: try row.publicKeyHashIfAny(),
            before: try row.textIfAny("value_before"), after: try row.textIfAny("value_after"),
            reason: try row.textIfAny("reason"), requestId: try row.textIfAny("request_id"),
            node: try row.textIfAny("node").map { try row.value(NodeName($0), of: "node") })
        return AuditRecord(
            sequence: try row.integer("sequence"), entry: entry, previousHash: try row.bytes("previous_hash"),
            hash: try row.bytes("hash"))
    }

    /// Converts a row to its record. A record with an invalid value is reported as a break of the audit chain, so it
    /// must not make the whole read fail.
    package static func link(_ row: some StoredRow) throws -> AuditLink {
        let sequence = try row.integer("sequence")
        return (try? record(row)).map(AuditLink.record) ?? .unreadable(sequence: sequence)
    }

    /// Converts a row with the columns `sequence` and `hash`.
    package static func head(_ row: some StoredRow) throws -> AuditHead {
        AuditHead(sequence: try row.integer("sequence"), hash: try row.bytes("hash"))
    }

    private static func caller(_ row: some StoredRow) throws -> Caller {
        let name = try row.text("caller")
        if let address = try row.textIfAny("caller_address") {
            return .remote(RemoteCaller(name: name, address: address))
        }
        return Caller(
            uid: try row.value(CallingProcess.uid(fromName: name), of: "caller"),
            gid: try row.smallInteger(UInt32.self, "caller_gid"),
            pid: try row.smallInteger(Int32.self, "caller_pid"), program: try row.text("caller_program"))
    }

    /// The values of ``columns``.
    package static func values(_ record: AuditRecord) -> Arguments {
        let entry = record.entry
        let process = entry.caller.process
        return [
            record.sequence, entry.action.rawValue, entry.caller.name, process?.gid, process?.pid, process?.program,
            entry.caller.remote?.address, entry.at, entry.merchantIdentifier?.rawValue, entry.publicKeyHash?.bytes,
            entry.before, entry.after, entry.reason, entry.requestId, entry.node?.text, record.previousHash,
            record.hash,
        ]
    }
}
