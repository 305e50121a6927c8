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

/// The largest number of values in one query; a power of two.
private let largestList = 1024

extension StoreReading {
    /// Runs a query, and converts its first row with `value`; nil if there is no row.
    func firstRow<Value>(_ sql: String, _ arguments: Arguments, _ value: (Row) throws -> Value) throws -> Value? {
        try db.firstRow(sql, arguments, value)
    }

    /// Runs a query, and converts each row with `value`.
    func allRows<Value>(_ sql: String, _ arguments: Arguments, _ value: (Row) throws -> Value) throws -> [Value] {
        try db.allRows(sql, arguments, value)
    }

    /// Runs a query for all rows with one of several values, and converts each row with `value`. Returns no rows, and
    /// runs no query, if there are no values. Many values take several queries, because SQLite limits the number of
    /// placeholders.
    ///
    /// The last value is repeated, so that the number of placeholders is a power of two. Otherwise SQLite would prepare
    /// another statement for each number of values.
    ///
    /// - Parameters:
    ///   - sql: the query up to the name of the column that has one of the values.
    ///   - columns: the columns of the clause `ORDER BY`; nil for no clause. If the values take several queries, each
    ///     query sorts only its own rows.
    func rows<Value>(
        _ sql: String, in values: [some SQLValue & Hashable], orderedBy columns: String? = nil,
        _ value: (Row) throws -> Value
    ) throws -> [Value] {
        guard values.count <= largestList else {
            // Without duplicates, so that no row is read by two queries.
            let values = Array(Set(values))
            return try stride(from: 0, to: values.count, by: largestList).flatMap { begin in
                let list = Array(values[begin..<min(begin + largestList, values.count)])
                return try rows(sql, in: list, orderedBy: columns, value)
            }
        }
        guard let last = values.last else { return [] }
        var count = 1
        while count < values.count { count *= 2 }
        let placeholders = repeatElement("?", count: count).joined(separator: ", ")
        return try allRows(
            "\(sql) IN (\(placeholders))\(columns.map { " ORDER BY \($0)" } ?? "")",
            values + Array(repeating: last, count: count - values.count), value)
    }
}
