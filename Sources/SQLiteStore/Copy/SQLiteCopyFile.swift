import FoundationEssentials
import GRDB
import MerchantCore
import StoreCore

/// One SQLite database that takes part in a copy, as source or target.
struct SQLiteCopyFile {
    let queue: DatabaseQueue
    let kind: DatabaseKind

    /// The tables of the schema, as SQLite describes them.
    func tables() throws -> [CopiedTable] {
        try read { db in
            try String.fetchAll(
                db,
                sql: "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT GLOB 'sqlite_*' ORDER BY name"
            ).map { name in
                let columns = try Row.fetchAll(
                    db, sql: "SELECT name, type, pk FROM pragma_table_xinfo(?) ORDER BY pk", arguments: [name])
                let references = try String.fetchSet(
                    db, sql: "SELECT \"table\" FROM pragma_foreign_key_list(?)", arguments: [name])
                return CopiedTable(
                    name: name,
                    columns: try columns.map {
                        CopiedColumn(name: try $0.text("name"), kind: Self.kind(ofType: try $0.text("type")))
                    },
                    key: try columns.filter { try $0.int64("pk") > 0 }.map { try $0.text("name") },
                    references: references)
            }
        }
    }

    private static func kind(ofType type: String) -> CopiedColumn.Kind {
        switch type {
        case "INTEGER": .integer
        case "TEXT": .text
        case "BLOB": .bytes
        default: .other(type)
        }
    }

    func rows(of table: CopiedTable, after key: CopiedRow?, limit: Int) throws -> [CopiedRow] {
        let order = table.key.map(\.quotedInSQLite).joined(separator: ", ")
        let parameters = table.key.map { _ in "?" }.joined(separator: ", ")
        let condition = key == nil ? "" : "WHERE (\(order)) > (\(parameters))"
        let arguments: Arguments = (key ?? []).map { $0 as (any SQLValue)? }
        let query = """
            SELECT \(Self.values(of: table)) FROM \(table.name.quotedInSQLite)
            \(condition) ORDER BY \(order) LIMIT \(limit)
            """
        return try read { db in try db.allRows(query, arguments) { try Self.copiedRow($0, of: table) } }
    }

    func lastKey(of table: CopiedTable) throws -> CopiedRow? {
        let order = table.key.map { "\($0.quotedInSQLite) DESC" }.joined(separator: ", ")
        return try read { db in
            try db.firstRow(
                "SELECT \(Self.values(of: table)) FROM \(table.name.quotedInSQLite) ORDER BY \(order) LIMIT 1", []
            ) { table.key(of: try Self.copiedRow($0, of: table)) }
        }
    }

    /// SQLite's counters of the tables with AUTOINCREMENT.
    func assignedNumbers() throws -> [String: Int64] {
        try read { db in
            Dictionary(
                try db.allRows("SELECT name, seq FROM sqlite_sequence", []) {
                    (try $0.text("name"), try $0.int64("seq"))
                },
                uniquingKeysWith: max)
        }
    }

    func read<Result>(_ body: (Database) throws -> Result) throws -> Result {
        try SQLiteErrors.translating(of: kind) { try queue.read(body) }
    }

    /// The columns of a SELECT. Texts are read as bytes, because GRDB would end a text at a NUL, and would replace
    /// bytes that are not UTF-8.
    private static func values(of table: CopiedTable) -> String {
        table.columns.map { column in
            column.kind == .text ? "CAST(\(column.name.quotedInSQLite) AS BLOB)" : column.name.quotedInSQLite
        }.joined(separator: ", ")
    }

    private static func copiedRow(_ row: Row, of table: CopiedTable) throws -> CopiedRow {
        try table.columns.indices.map { index in
            let column = table.columns[index]
            let value: DatabaseValue = row[index]
            switch (column.kind, value.storage) {
            case (_, .null): return nil
            case (.integer, .int64(let integer)): return .integer(integer)
            case (.bytes, .blob(let bytes)): return .bytes(Array(bytes))
            case (.text, .blob(let bytes)):
                guard let text = String(validating: bytes, as: UTF8.self) else {
                    throw MerchantError.invalidValue(of: column.name)
                }
                return .text(text)
            default: throw MerchantError.invalidValue(of: column.name)
            }
        }
    }
}

extension String {
    /// The name of a table or column as an identifier of SQL.
    var quotedInSQLite: String { "\"\(replacing("\"", with: "\"\""))\"" }
}
