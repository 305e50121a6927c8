import MerchantCore
import StoreCore
import Vocabulary

extension StoreReading {
    func auditRecords(
        _ filter: AuditFilter, from cursor: Int?, oldestFirst: Bool, limit: Int
    ) throws -> [AuditRecord] {
        var conditions = Conditions()
        conditions.add(oldestFirst ? "sequence >" : "sequence <", cursor ?? (oldestFirst ? 0 : Int.max))
        conditions.add("public_key_hash =", filter.key?.bytes)
        conditions.add("merchant_identifier =", filter.merchant?.rawValue)
        conditions.add("caller =", filter.caller)
        conditions.add("at >=", filter.since)
        conditions.add("at <", filter.until)
        let clause = conditions.clause
        let order = "ORDER BY sequence \(oldestFirst ? "" : "DESC") LIMIT \(conditions.parameter(max(0, limit)))"
        // `OFFSET 0` makes PostgreSQL find the records of the period with the index on `at`. Otherwise PostgreSQL may
        // read the records in the order of `sequence` until it has found `limit` of them. That can be most of the
        // table.
        let selection =
            filter.hasOnlyShortPeriod
            ? "WHERE sequence IN (SELECT sequence FROM (SELECT sequence FROM audit \(clause) OFFSET 0) AS found \(order))"
            : clause
        return try allRows(
            "SELECT \(AuditRow.columns) FROM audit \(selection) \(order)", conditions.arguments, AuditRow.record)
    }

    func auditSegment(from sequence: Int, limit: Int) throws -> AuditSegment {
        let links = try allRows(
            "SELECT \(AuditRow.columns) FROM audit WHERE sequence >= $1 ORDER BY sequence LIMIT $2",
            [sequence, max(0, limit)], AuditRow.link)
        return AuditSegment(links: links, highestAssigned: try highestAssignedSequence())
    }

    func auditHead() throws -> AuditHead? {
        try firstRow(
            "SELECT sequence, hash FROM audit WHERE sequence = (SELECT max(sequence) FROM audit)", [], AuditRow.head)
    }

    /// The highest sequence that was ever assigned to a record; 0 if there was no record. Deleting records does not
    /// decrease this number.
    func highestAssignedSequence() throws -> Int {
        try firstRow("SELECT sequence FROM audit_head WHERE id = 1", []) { try $0.integer("sequence") } ?? 0
    }
}

extension AuditFilter {
    /// Whether the filter contains only a period, of at most a week.
    fileprivate var hasOnlyShortPeriod: Bool {
        guard key == nil, merchant == nil, caller == nil, let since, let until else { return false }
        let (length, isTooLong) = until.millisecondsSince1970.subtractingReportingOverflow(since.millisecondsSince1970)
        return !isTooLong && length <= 7 * 86_400_000
    }
}
