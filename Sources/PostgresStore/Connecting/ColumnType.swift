import StoreCore

/// The PostgreSQL types that the statements of this module use, with their object identifiers (`pg_type.oid`).
enum ColumnType: UInt32 {
    case boolean = 16
    case bytes = 17
    case name = 19
    case integer64 = 20
    case integer16 = 21
    case integer32 = 23
    case text = 25
}

extension StoredValue {
    /// Appends the value in PostgreSQL's binary format for a type.
    ///
    /// - Throws: `internalError` if PostgreSQL cannot store the value in this type.
    func append(as type: ColumnType, to bytes: inout [UInt8]) throws {
        switch (self, type) {
        case (.integer(let integer), .integer64): try append(integer, as: Int64.self, to: &bytes)
        case (.integer(let integer), .integer32): try append(integer, as: Int32.self, to: &bytes)
        case (.integer(let integer), .integer16): try append(integer, as: Int16.self, to: &bytes)
        case (.text(let text), .text), (.text(let text), .name):
            guard !text.utf8.contains(0) else { throw SQLValueError.textWithNUL }
            bytes.append(contentsOf: text.utf8)
        case (.bytes(let value), .bytes): bytes.append(contentsOf: value)
        case (.flag(let flag), .boolean): bytes.append(flag ? 1 : 0)
        default: throw SQLValueError.wrongType
        }
    }

    private func append<Integer: FixedWidthInteger>(
        _ value: Int64, as _: Integer.Type, to bytes: inout [UInt8]
    ) throws {
        guard let integer = Integer(exactly: value) else { throw SQLValueError.wrongType }
        withUnsafeBytes(of: integer.bigEndian) { bytes.append(contentsOf: $0) }
    }
}
