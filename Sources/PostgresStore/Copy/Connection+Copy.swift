import CLibPQ
import MerchantCore
import StoreCore

extension Connection {
    /// Inserts rows with `COPY … FROM STDIN`. COPY is faster than INSERT, and writes identity columns without the
    /// clause `OVERRIDING SYSTEM VALUE`. Waits for the server without a time limit.
    ///
    /// - Parameter data: the rows in the binary format of COPY.
    func copy(_ sql: String, _ data: borrowing CopyData) throws {
        try exclusively {
            let begun = PQexec(pointer, sql)
            defer { PQclear(begun) }
            guard PQresultStatus(begun) == PGRES_COPY_IN else { throw failure(begun) }
            let isSent = data.bytes.withUnsafeBytes { bytes in
                PQputCopyData(
                    pointer, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(clamping: bytes.count)) == 1
            }
            guard isSent, PQputCopyEnd(pointer, nil) == 1 else { throw failure(nil) }
            var error: PostgresError?
            while let result = PQgetResult(pointer) {
                defer { PQclear(result) }
                guard PQresultStatus(result) != PGRES_COMMAND_OK, error == nil else { continue }
                error = failure(result)
            }
            if let error { throw error }
        }
    }

    private func failure(_ result: OpaquePointer?) -> PostgresError {
        let error = PostgresError(result: result, of: pointer)
        if error.isConnectionLost { markLost() }
        return error
    }
}

/// Rows in the binary format of COPY.
struct CopyData {
    private(set) var bytes: [UInt8] = []

    /// - Parameter types: the types of the columns.
    init(_ rows: [CopiedRow], as types: [ColumnType]) throws {
        bytes.append(contentsOf: "PGCOPY\n".utf8)
        bytes.append(contentsOf: [0xFF, 0x0D, 0x0A, 0x00])
        // No flags, and no extension of the header.
        append(Int32(0))
        append(Int32(0))
        for row in rows {
            guard row.count == types.count else { throw SQLValueError.wrongType }
            append(Int16(row.count))
            for (value, type) in zip(row, types) { try append(value, as: type) }
        }
        append(Int16(-1))
    }

    private mutating func append(_ value: StoredValue?, as type: ColumnType) throws {
        guard let value else { return append(Int32(-1)) }
        let begin = bytes.count
        append(Int32(0))
        try Self.converted(value, to: type).append(as: type, to: &bytes)
        let length = Int32(bytes.count - begin - 4)
        withUnsafeBytes(of: length.bigEndian) { bytes.replaceSubrange(begin..<begin + 4, with: $0) }
    }

    /// A copied row has truth values as integers.
    private static func converted(_ value: StoredValue, to type: ColumnType) throws -> StoredValue {
        guard type == .boolean else { return value }
        switch value {
        case .integer(0): return .flag(false)
        case .integer(1): return .flag(true)
        default: throw SQLValueError.wrongType
        }
    }

    private mutating func append(_ integer: some FixedWidthInteger) {
        withUnsafeBytes(of: integer.bigEndian) { bytes.append(contentsOf: $0) }
    }
}
