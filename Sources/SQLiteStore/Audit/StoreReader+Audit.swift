import MerchantCore
import StoreCore
import Vocabulary

extension StoreReading {
    func auditRecords(
        _ filter: AuditFilter, from cursor: Int?, oldestFirst: Bool, limit: Int
    ) throws -> [AuditRecord] {
        var conditions = [oldestFirst ? "sequence > ?" : "sequence < ?"]
        var arguments: Arguments = [cursor ?? (oldestFirst ? 0 : Int.max)]
        /// Adds the condition, unless the filter has no value for it.
        func addCondition(_ condition: String, _ value: (any SQLValue)?) {
            guard let value else { return }
            conditions.append(condition)
            arguments += [value]
        }
        addCondition("public_key_hash = ?", filter.key?.bytes)
        addCondition("merchant_identifier = ?", filter.merchant?.rawValue)
        addCondition("caller = ?", filter.caller)
        addCondition("at >= ?", filter.since)
        addCondition("at < ?", filter.until)
        return try allRows(
            """
            SELECT \(AuditRow.columns) FROM audit \(Self.indexClause(for: filter))
            WHERE \(conditions.joined(separator: " AND ")) ORDER BY sequence \(oldestFirst ? "" : "DESC") LIMIT ?
            """, arguments + [max(0, limit)], AuditRow.record)
    }

    func auditSegment(from sequence: Int, limit: Int) throws -> AuditSegment {
        let links = try allRows(
            "SELECT \(AuditRow.columns) FROM audit WHERE sequence >= ? ORDER BY sequence LIMIT ?",
            [sequence, max(0, limit)], AuditRow.link)
        return AuditSegment(links: links, highestAssigned: try highestAssignedSequence())
    }

    func auditHead() throws -> AuditHead? {
        try firstRow(
            "SELECT sequence, hash FROM audit WHERE sequence = (SELECT max(sequence) FROM audit)", [], AuditRow.head)
    }

    /// The highest sequence that was ever assigned to a record, from SQLite's AUTOINCREMENT counter; 0 if there was no
    /// record. Deleting records does not decrease the counter.
    func highestAssignedSequence() throws -> Int {
        try firstRow("SELECT seq FROM sqlite_sequence WHERE name = 'audit'", []) { try $0.integer("seq") } ?? 0
    }

    /// The SQL clause that names the index for the filter's first condition in this order: key pair, merchant, caller,
    /// time. The first of these conditions usually selects the fewest records. Empty without a filter, because then the
    /// primary key `sequence` is enough.
    private static func indexClause(for filter: AuditFilter) -> String {
        if filter.key != nil { return "INDEXED BY audit_of_key_pair" }
        if filter.merchant != nil { return "INDEXED BY audit_of_merchant" }
        if filter.caller != nil { return "INDEXED BY audit_of_caller" }
        return filter.since != nil || filter.until != nil ? "INDEXED BY audit_by_time" : ""
    }
}
