import CLibPQ
import MerchantCore
import StoreCore

/// The result of a statement: the rows that it returned, and what it changed. Frees the result with the last reference.
final class QueryResult {
    private let pointer: OpaquePointer
    /// The index of each column.
    let columns: [String: Int32]

    /// - Parameter pointer: a `PGresult`, which this object frees.
    init(_ pointer: OpaquePointer, columns: [String: Int32]) {
        self.pointer = pointer
        self.columns = columns
    }

    deinit { PQclear(pointer) }

    var count: Int { Int(PQntuples(pointer)) }

    /// The number of rows that the statement itself changed, without the rows that triggers changed.
    var changedRows: Int {
        guard let text = PQcmdTuples(pointer) else { return 0 }
        return Int(String(cString: text)) ?? 0
    }

    /// What the server did, such as `COMMIT`.
    var commandTag: String? { PQcmdStatus(pointer).map { String(cString: $0) } }

    var rows: some Sequence<Row> { (0..<PQntuples(pointer)).lazy.map { Row(result: self, index: $0) } }

    var first: Row? { PQntuples(pointer) > 0 ? Row(result: self, index: 0) : nil }

    /// The bytes of a value, valid during the call of `body`; nil for NULL.
    func withBytes<Value>(
        row: Int32, column: Int32, _ body: (UnsafeRawBufferPointer, ColumnType?) throws -> Value
    ) rethrows -> Value? {
        guard PQgetisnull(pointer, row, column) == 0, let start = PQgetvalue(pointer, row, column) else { return nil }
        let bytes = UnsafeRawBufferPointer(start: start, count: Int(PQgetlength(pointer, row, column)))
        return try withExtendedLifetime(self) {
            try body(bytes, ColumnType(rawValue: PQftype(pointer, column)))
        }
    }
}

/// One row of a result.
struct Row {
    fileprivate let result: QueryResult
    fileprivate let index: Int32

    /// The value of a column in PostgreSQL's binary format; nil for NULL.
    ///
    /// - Throws: `storeUnavailable` if there is no such column, or if `body` returns nil.
    func valueIfAny<Value>(
        _ column: String, _ body: (UnsafeRawBufferPointer, ColumnType?) -> Value?
    ) throws -> Value? {
        guard let number = result.columns[column] else { throw MerchantError.invalidValue(of: column) }
        return try result.withBytes(row: index, column: number) { bytes, type in
            guard let value = body(bytes, type) else { throw MerchantError.invalidValue(of: column) }
            return value
        }
    }
}
