/// A value that can be a parameter of a statement.
protocol SQLValue: Sendable {
    /// Appends the value in PostgreSQL's binary format for a type.
    ///
    /// - Throws: `internalError` if PostgreSQL cannot store the value in this type.
    func append(as type: ColumnType, to bytes: inout [UInt8]) throws
}

/// The parameters of a statement: `$1`, `$2` and so on. nil is NULL.
typealias Arguments = [(any SQLValue)?]

/// The types of PostgreSQL that the statements of this module use, with their numbers in `pg_type`.
enum ColumnType: UInt32 {
    case boolean = 16
    case bytes = 17
    case name = 19
    case integer64 = 20
    case integer16 = 21
    case integer32 = 23
    case text = 25
}

extension FixedWidthInteger where Self: SQLValue {
    func append(as type: ColumnType, to bytes: inout [UInt8]) throws {
        switch type {
        case .integer64: try appendBigEndian(Int64.self, to: &bytes)
        case .integer32: try appendBigEndian(Int32.self, to: &bytes)
        case .integer16: try appendBigEndian(Int16.self, to: &bytes)
        default: throw SQLValueError.wrongType
        }
    }

    private func appendBigEndian<Integer: FixedWidthInteger>(_: Integer.Type, to bytes: inout [UInt8]) throws {
        guard let integer = Integer(exactly: self) else { throw SQLValueError.wrongType }
        withUnsafeBytes(of: integer.bigEndian) { bytes.append(contentsOf: $0) }
    }
}

extension Int: SQLValue {}
extension Int64: SQLValue {}
extension Int32: SQLValue {}
extension UInt32: SQLValue {}

extension Bool: SQLValue {
    func append(as type: ColumnType, to bytes: inout [UInt8]) throws {
        guard type == .boolean else { throw SQLValueError.wrongType }
        bytes.append(self ? 1 : 0)
    }
}

extension String: SQLValue {
    func append(as type: ColumnType, to bytes: inout [UInt8]) throws {
        guard type == .text || type == .name else { throw SQLValueError.wrongType }
        guard !utf8.contains(0) else { throw SQLValueError.textWithNUL }
        bytes.append(contentsOf: utf8)
    }
}

extension [UInt8]: SQLValue {
    func append(as type: ColumnType, to bytes: inout [UInt8]) throws {
        guard type == .bytes else { throw SQLValueError.wrongType }
        bytes.append(contentsOf: self)
    }
}
