/// A table of a database's schema, described in the same terms for SQLite and PostgreSQL.
package struct CopiedTable: Equatable, Sendable {
    package let name: String
    /// Sorted by name, because the two databases can have the columns in different orders.
    package let columns: [CopiedColumn]
    /// The columns of the primary key, in the order of the key.
    package let key: [String]
    /// The other tables that foreign keys of this table reference.
    package let references: Set<String>

    package init(name: String, columns: [CopiedColumn], key: [String], references: Set<String>) {
        self.name = name
        self.columns = columns.sorted { $0.name < $1.name }
        self.key = key
        self.references = references.subtracting([name])
    }

    /// The index of a column in a ``CopiedRow``; nil if the table has no such column.
    package func index(of column: String) -> Int? { columns.firstIndex { $0.name == column } }

    /// The values of the primary key of a row.
    package func key(of row: CopiedRow) -> CopiedRow { key.compactMap { index(of: $0).map { row[$0] } } }
}

package struct CopiedColumn: Equatable, Sendable {
    package enum Kind: Equatable, Sendable {
        /// Also for truth values, as 0 or 1, because SQLite has no type for them.
        case integer
        case text
        case bytes
        /// A type that cannot be copied, with its name.
        case other(String)
    }

    package let name: String
    package let kind: Kind

    package init(name: String, kind: Kind) {
        self.name = name
        self.kind = kind
    }
}

/// The values of one row, in the order of ``CopiedTable/columns``: an integer, a text or bytes, and nil for NULL.
package typealias CopiedRow = [StoredValue?]
