import GRDB
import MerchantCore
import StoreCore

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
    /// Runs a query, and converts its first row with `value`; nil if there is no row.
    func firstRow<Value>(_ sql: String, _ arguments: Arguments, _ value: (Row) throws -> Value) throws -> Value? {
        try db.firstRow(sql, arguments, value)
    }

    /// Runs a query, and converts each row with `value`.
    func allRows<Value>(_ sql: String, _ arguments: Arguments, _ value: (Row) throws -> Value) throws -> [Value] {
        try db.allRows(sql, arguments, value)
    }
}
