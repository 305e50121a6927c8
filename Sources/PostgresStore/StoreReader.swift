import MerchantCore
import StoreCore

/// Reads one consistent state of the database, in a transaction that only reads.
struct StoreReader: StoreReading {
    let connection: Connection
}

/// The queries of ``StoreReader`` and of ``StoreTransaction``. In a ``StoreTransaction``, they also see its own
/// changes.
protocol StoreReading: RepositoryReading {
    var connection: Connection { get }
}

extension StoreReading {
    /// Runs a query, and converts its first row with `value`; nil if there is no row. Each connection prepares a
    /// statement once and then reuses the statement.
    func firstRow<Value>(_ sql: String, _ arguments: Arguments, _ value: (Row) throws -> Value) throws -> Value? {
        try connection.query(sql, arguments).first.map(value)
    }

    /// Runs a query, and converts each row with `value`.
    func allRows<Value>(_ sql: String, _ arguments: Arguments, _ value: (Row) throws -> Value) throws -> [Value] {
        try connection.query(sql, arguments).rows.map(value)
    }
}
