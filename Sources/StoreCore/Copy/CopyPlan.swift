package import MerchantCore

/// Which tables a copy between two databases copies, and in which order.
package struct CopyPlan: Sendable {
    /// The tables that are not copied, and why.
    package static let exceptions: [String: String] = [
        "migrations": "each database records its own migrations",
        "instance": "identifies a PostgreSQL database",
        "nodes": "the daemons that use a PostgreSQL database; no daemon runs during a copy",
        "leader": "which of the daemons on a PostgreSQL database is the leader",
        "key_changes": "changes of key pairs that daemons on a PostgreSQL database apply to their caches",
        "audit_head": "the number and hash of the last audit record, which are set after the audit was copied",
        UnfinishedCopyMark.table: "marks the target of a copy that is not finished",
    ]

    /// The tables with used payment tokens and nonces.
    package static let tablesOfClaims: Set<String> = ["claims", "nonces"]

    /// The tables to copy. Each table comes after the tables that its foreign keys reference.
    package let tables: [CopiedTable]

    /// - Parameter withClaims: whether the tables ``tablesOfClaims`` are copied. A backup does not contain them.
    /// - Throws: `internalError` if the schemas of the two databases do not match.
    package init(
        from source: [CopiedTable], to target: [CopiedTable], withClaims: Bool = true
    ) throws(MerchantError) {
        func copied(_ tables: [CopiedTable]) -> [String: CopiedTable] {
            Self.copied(withClaims ? tables : tables.filter { !Self.tablesOfClaims.contains($0.name) })
        }
        let (source, target) = (copied(source), copied(target))
        for name in Set(source.keys).union(target.keys).sorted() {
            guard let found = source[name], let expected = target[name] else {
                throw Self.mismatch(
                    "only the \(source[name] == nil ? "target" : "source") has the table \(name) (if another program created the table, remove it instead of reporting this error)"
                )
            }
            guard found.columns == expected.columns, found.key == expected.key else {
                throw Self.mismatch("the source and the target have different columns in the table \(name)")
            }
            guard !found.key.isEmpty else { throw Self.mismatch("the table \(name) has no primary key") }
            for column in found.columns {
                guard case .other(let type) = column.kind else { continue }
                throw Self.mismatch("the column \(column.name) of the table \(name) has the type \(type)")
            }
        }
        // Both databases enforce foreign keys, so the order takes the foreign keys of both into account.
        tables = try Self.sorted(
            source.mapValues { $0.references.union(target[$0.name]?.references ?? []) }
        ).compactMap { source[$0] }
    }

    /// - Throws: `internalError` if the plan does not contain the table.
    package func table(_ name: String) throws(MerchantError) -> CopiedTable {
        guard let found = tables.first(where: { $0.name == name }) else {
            throw Self.mismatch("there is no table \(name)")
        }
        return found
    }

    private static func copied(_ tables: [CopiedTable]) -> [String: CopiedTable] {
        Dictionary(
            tables.filter { exceptions[$0.name] == nil }.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// - Parameter references: for each table, the tables that its foreign keys reference.
    /// - Returns: the names of the tables, each after the tables that it references.
    private static func sorted(_ references: [String: Set<String>]) throws(MerchantError) -> [String] {
        var sorted: [String] = []
        var waiting = references
        while !waiting.isEmpty {
            let ready = waiting.filter { $0.value.isSubset(of: sorted) }.keys.sorted()
            guard !ready.isEmpty else {
                throw mismatch("the tables \(waiting.keys.sorted().joined(separator: ", ")) refer to each other")
            }
            sorted += ready
            for name in ready { waiting[name] = nil }
        }
        return sorted
    }

    private static func mismatch(_ what: String) -> MerchantError {
        MerchantError(
            .internalError, "the data cannot be copied, and nothing was copied: \(what); report this error")
    }
}

/// Marks the target of an unfinished copy, so that no daemon uses it, and so that only a copy of the same data resumes.
package struct UnfinishedCopyMark: Equatable, Sendable {
    /// The name of the table in the target.
    package static let table = "unfinished_copy"

    /// The last audit record of the source. Each start of a daemon adds a record, so a source with the same record has
    /// the same data.
    package let sourceHead: AuditHead

    package init(sourceHead: AuditHead) { self.sourceHead = sourceHead }
}
