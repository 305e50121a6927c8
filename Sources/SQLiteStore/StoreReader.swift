import GRDB
import MerchantCore
import Vocabulary

/// Reads one consistent state of the database on a connection that only reads.
struct StoreReader: StoreReading {
    let db: Database
}

/// The queries of ``StoreReader`` and of ``StoreTransaction``. In a ``StoreTransaction``, they also see its own
/// changes.
///
/// No query may scan a large table; a test checks the query plans. Therefore:
///
/// - Many queries name their index with `INDEXED BY`: SQLite refuses such a query if it cannot use the index.
/// - Some queries have a condition that is always true, such as `since >= 0` or `identifier > ''`. With this condition,
///   SQLite searches the index instead of scanning it.
/// - `CROSS JOIN` makes SQLite read the table on the left of it first.
protocol StoreReading: RepositoryReading {
    var db: Database { get }
}

extension StoreReading {
    /// Runs a query, and converts its first row with `value`; nil if there is no row. Each connection prepares a
    /// statement once and then reuses the statement.
    ///
    /// Uses a cursor, because `Row.fetchOne` copies the row, and a copied row finds columns more slowly.
    func firstRow<Value>(_ sql: String, _ arguments: StatementArguments, _ value: (Row) throws -> Value) throws
        -> Value?
    {
        let rows = try Row.fetchCursor(db.cachedStatement(sql: sql), arguments: arguments)
        return try withExtendedLifetime(rows) { try rows.next().map(value) }
    }

    /// Runs a query, and converts each row with `value`.
    func allRows<Value>(_ sql: String, _ arguments: StatementArguments, _ value: (Row) throws -> Value) throws
        -> [Value]
    {
        let rows = try Row.fetchCursor(db.cachedStatement(sql: sql), arguments: arguments)
        var values: [Value] = []
        while let row = try rows.next() { values.append(try value(row)) }
        return values
    }
}
