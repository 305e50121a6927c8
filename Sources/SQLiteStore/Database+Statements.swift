import GRDB
import StoreCore

/// Runs statements. Each connection prepares a statement once and then reuses it.
extension Database {
    /// Runs a query, and converts its first row with `value`; nil if there is no row.
    ///
    /// Uses a cursor, because `Row.fetchOne` copies the row, and a copied row finds columns more slowly.
    func firstRow<Value>(_ sql: String, _ arguments: Arguments, _ value: (Row) throws -> Value) throws -> Value? {
        let rows = try Row.fetchCursor(cachedStatement(sql: sql), arguments: StatementArguments(values: arguments))
        return try withExtendedLifetime(rows) { try rows.next().map(value) }
    }

    /// Runs a query, and converts each row with `value`.
    func allRows<Value>(_ sql: String, _ arguments: Arguments, _ value: (Row) throws -> Value) throws -> [Value] {
        let rows = try Row.fetchCursor(cachedStatement(sql: sql), arguments: StatementArguments(values: arguments))
        var values: [Value] = []
        while let row = try rows.next() { values.append(try value(row)) }
        return values
    }

    /// Executes a statement that returns no rows.
    ///
    /// - Returns: the number of rows that the statement itself changed, without the rows that triggers changed.
    @discardableResult
    func execute(_ sql: String, _ arguments: Arguments) throws -> Int {
        try cachedStatement(sql: sql).execute(arguments: StatementArguments(values: arguments))
        return changesCount
    }
}
