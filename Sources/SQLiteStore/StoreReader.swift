import GRDB
import MerchantCore
import Vocabulary

/// One consistent state of the database, for a read.
struct StoreReader: StoreReading {
    let db: Database
}

/// Reads from a connection: in a read, or in a write that reads its own changes.
protocol StoreReading: RepositoryReading {
    var db: Database { get }
}

extension StoreReading {
    /// The value of the first row, if there is a row. Statements are prepared once for each connection.
    ///
    /// Uses a cursor, because a row of `Row.fetchOne` is a copy that finds each column by comparing names.
    func first<Value>(_ sql: String, _ arguments: StatementArguments, _ value: (Row) throws -> Value) throws -> Value? {
        let rows = try Row.fetchCursor(db.cachedStatement(sql: sql), arguments: arguments)
        return try withExtendedLifetime(rows) { try rows.next().map(value) }
    }

    /// The values of all rows.
    func every<Value>(_ sql: String, _ arguments: StatementArguments, _ value: (Row) throws -> Value) throws -> [Value]
    {
        let rows = try Row.fetchCursor(db.cachedStatement(sql: sql), arguments: arguments)
        var values: [Value] = []
        while let row = try rows.next() { values.append(try value(row)) }
        return values
    }
}
