import GRDB
import MerchantCore
import Vocabulary

/// One moment of the database, as a read sees it.
struct StoreReader: StoreReading {
    let db: Database
}

/// Whatever answers the store's questions from a connection: a read, or a write that sees its own changes.
protocol StoreReading: MerchantReading {
    var db: Database { get }
}

extension StoreReading {
    /// The first row's value, if there is a row. Statements are prepared once for each connection.
    ///
    /// Read where it lies: a row of `Row.fetchOne` is a copy that compares the names of all its columns for each one that is read.
    func first<Value>(_ sql: String, _ arguments: StatementArguments, _ value: (Row) throws -> Value) throws -> Value? {
        let rows = try Row.fetchCursor(db.cachedStatement(sql: sql), arguments: arguments)
        return try withExtendedLifetime(rows) { try rows.next().map(value) }
    }

    /// Every row's value.
    func every<Value>(_ sql: String, _ arguments: StatementArguments, _ value: (Row) throws -> Value) throws -> [Value]
    {
        let rows = try Row.fetchCursor(db.cachedStatement(sql: sql), arguments: arguments)
        var values: [Value] = []
        while let row = try rows.next() { values.append(try value(row)) }
        return values
    }
}

// MARK: - Merchants

extension StoreReading {
    func merchant(_ identifier: MerchantIdentifier) throws -> Merchant? {
        try first(
            "SELECT \(MerchantRow.columns) FROM merchants WHERE identifier = ?", [identifier.rawValue],
            MerchantRow.merchant)
    }

    func merchants(after cursor: MerchantIdentifier?, limit: Int) throws -> [Merchant] {
        try every(
            """
            SELECT \(MerchantRow.columns) FROM merchants
            WHERE removed_at IS NULL AND identifier > ? ORDER BY identifier LIMIT ?
            """, [cursor?.rawValue ?? "", max(0, limit)], MerchantRow.merchant)
    }
}
