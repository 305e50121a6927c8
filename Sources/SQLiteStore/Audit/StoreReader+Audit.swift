import GRDB
import MerchantCore
import Vocabulary

extension StoreReading {
    func auditRecords(
        _ filter: AuditFilter, from cursor: Int?, oldestFirst: Bool, limit: Int
    ) throws -> [AuditRecord] {
        var conditions = [oldestFirst ? "sequence > ?" : "sequence < ?"]
        var arguments: StatementArguments = [cursor ?? (oldestFirst ? 0 : Int.max)]
        func require(_ condition: String, _ value: (any DatabaseValueConvertible)?) {
            guard let value else { return }
            conditions.append(condition)
            arguments += [value]
        }
        require("public_key_hash = ?", filter.key?.data)
        require("merchant_identifier = ?", filter.merchant?.rawValue)
        require("caller_uid = ?", filter.callerUID)
        require("at >= ?", filter.since?.millisecondsSince1970)
        require("at < ?", filter.until?.millisecondsSince1970)
        return try every(
            """
            SELECT \(AuditRow.columns) FROM audit \(Self.index(for: filter))
            WHERE \(conditions.joined(separator: " AND ")) ORDER BY sequence \(oldestFirst ? "" : "DESC") LIMIT ?
            """, arguments + [max(0, limit)], AuditRow.record)
    }

    func auditSegment(from sequence: Int, limit: Int) throws -> AuditSegment {
        let links = try every(
            "SELECT \(AuditRow.columns) FROM audit WHERE sequence >= ? ORDER BY sequence LIMIT ?",
            [sequence, max(0, limit)]
        ) { row in
            // A value that cannot be read is a finding, not a failure.
            let sequence = try row.integer("sequence")
            return (try? AuditRow.record(row)).map(AuditLink.record) ?? .unreadable(sequence: sequence)
        }
        return AuditSegment(links: links, highestAssigned: try auditRecordsGiven())
    }

    func auditHead() throws -> AuditHead? {
        try first("SELECT sequence, hash FROM audit WHERE sequence = (SELECT max(sequence) FROM audit)", []) {
            AuditHead(sequence: try $0.integer("sequence"), hash: try $0.bytes("hash"))
        }
    }

    /// The number of records ever stored, by SQLite's own counter, which deletions do not decrease.
    func auditRecordsGiven() throws -> Int {
        try first("SELECT seq FROM sqlite_sequence WHERE name = 'audit'", []) { try $0.integer("seq") } ?? 0
    }

    private static func index(for filter: AuditFilter) -> String {
        if filter.key != nil { return "INDEXED BY audit_of_key_pair" }
        if filter.merchant != nil { return "INDEXED BY audit_of_merchant" }
        if filter.callerUID != nil { return "INDEXED BY audit_of_caller" }
        return filter.since != nil || filter.until != nil ? "INDEXED BY audit_by_time" : ""
    }
}
