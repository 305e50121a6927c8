import StoreCore

/// The tables of the schema, as PostgreSQL's catalog describes them.
struct TableCatalog {
    let tables: [CopiedTable]
    /// The type of each column, by the names of the table and the column; nil for a type that no statement of this
    /// module uses.
    private let types: [String: [String: ColumnType?]]
    /// The identity column of each table that has one.
    let identities: [(table: String, column: String)]
    /// The columns that PostgreSQL computes from others, by the name of the table. They cannot be written.
    private let generated: [String: Set<String>]

    init(_ connection: Connection) throws {
        var types: [String: [String: ColumnType?]] = [:]
        var columns: [String: [CopiedColumn]] = [:]
        var identities: [(table: String, column: String)] = []
        var generated: [String: Set<String>] = [:]
        let found = try connection.query(
            """
            SELECT c.relname AS table_name, a.attname AS column_name, a.atttypid::bigint AS type_number,
                format_type(a.atttypid, a.atttypmod) AS type_name, a.attidentity <> '' AS is_identity,
                a.attgenerated <> '' AS is_generated
            FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
            WHERE c.relnamespace = 'merchantkeyd'::regnamespace AND c.relkind IN ('r', 'p')
                AND a.attnum > 0 AND NOT a.attisdropped
            ORDER BY c.relname, a.attname
            """)
        for row in found.rows {
            let (table, column) = (try row.text("table_name"), try row.text("column_name"))
            let type = ColumnType(rawValue: try row.smallInteger(UInt32.self, "type_number"))
            types[table, default: [:]][column] = .some(type)
            columns[table, default: []].append(
                CopiedColumn(name: column, kind: Self.kind(of: type, named: try row.text("type_name"))))
            if try row.flag("is_identity") { identities.append((table, column)) }
            if try row.flag("is_generated") { generated[table, default: []].insert(column) }
        }
        let keys = try Self.keys(connection)
        let references = try Self.references(connection)
        self.types = types
        self.identities = identities
        self.generated = generated
        tables = columns.keys.sorted().map { name in
            CopiedTable(
                name: name, columns: columns[name] ?? [], key: keys[name] ?? [], references: references[name] ?? [])
        }
    }

    /// The columns that can be written: the index in the table's columns, the name and the type.
    func writableColumns(of table: CopiedTable) throws -> [(index: Int, name: String, type: ColumnType)] {
        try table.columns.enumerated().compactMap { index, column in
            guard generated[table.name]?.contains(column.name) != true else { return nil }
            guard let type = types[table.name]?[column.name] ?? nil else { throw SQLValueError.wrongType }
            return (index, column.name, type)
        }
    }

    private static func kind(of type: ColumnType?, named name: String) -> CopiedColumn.Kind {
        switch type {
        case .boolean, .integer64, .integer32, .integer16: .integer
        case .text: .text
        case .bytes: .bytes
        case .name, nil: .other(name)
        }
    }

    /// The columns of each primary key, in the order of the key.
    private static func keys(_ connection: Connection) throws -> [String: [String]] {
        let found = try connection.query(
            """
            SELECT c.relname AS table_name, a.attname AS column_name
            FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indrelid
                CROSS JOIN LATERAL unnest(i.indkey) WITH ORDINALITY AS k (number, position)
                JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = k.number
            WHERE i.indisprimary AND c.relnamespace = 'merchantkeyd'::regnamespace
            ORDER BY c.relname, k.position
            """)
        var keys: [String: [String]] = [:]
        for row in found.rows { keys[try row.text("table_name"), default: []].append(try row.text("column_name")) }
        return keys
    }

    private static func references(_ connection: Connection) throws -> [String: Set<String>] {
        let found = try connection.query(
            """
            SELECT c.relname AS table_name, f.relname AS other_table
            FROM pg_constraint AS k JOIN pg_class AS c ON c.oid = k.conrelid JOIN pg_class AS f ON f.oid = k.confrelid
            WHERE k.contype = 'f' AND k.connamespace = 'merchantkeyd'::regnamespace
            """)
        var references: [String: Set<String>] = [:]
        for row in found.rows {
            references[try row.text("table_name"), default: []].insert(try row.text("other_table"))
        }
        return references
    }
}
