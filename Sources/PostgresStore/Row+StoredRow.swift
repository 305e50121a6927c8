import StoreCore
import Vocabulary

/// Reads the columns of PostgreSQL's rows.
extension Row: StoredRow {
    func text(_ column: String) throws -> String { try value(textIfAny(column), of: column) }

    func textIfAny(_ column: String) throws -> String? {
        try valueIfAny(column) { bytes, type in
            type == .text || type == .name ? String(validating: bytes, as: UTF8.self) : nil
        }
    }

    func int64(_ column: String) throws -> Int64 { try value(int64IfAny(column), of: column) }

    func int64IfAny(_ column: String) throws -> Int64? {
        try valueIfAny(column) { bytes, type in
            switch type {
            case .integer64: bytes.bigEndian(Int64.self)
            case .integer32: bytes.bigEndian(Int32.self).map { Int64($0) }
            case .integer16: bytes.bigEndian(Int16.self).map { Int64($0) }
            default: nil
            }
        }
    }

    func bytes(_ column: String) throws -> [UInt8] {
        try value(valueIfAny(column) { bytes, type in type == .bytes ? Array(bytes) : nil }, of: column)
    }

    func bits256IfAny(_ column: String) throws -> Bits256? {
        try valueIfAny(column) { bytes, type in type == .bytes ? Bits256(bytes: bytes) : nil }
    }

    func flag(_ column: String) throws -> Bool {
        try value(
            valueIfAny(column) { bytes, type in type == .boolean ? bytes.first.map { $0 != 0 } : nil }, of: column)
    }
}

extension UnsafeRawBufferPointer {
    /// The bytes as a big-endian integer; nil if the integer has another size.
    func bigEndian<Integer: FixedWidthInteger>(_: Integer.Type) -> Integer? {
        count == MemoryLayout<Integer>.size ? Integer(bigEndian: loadUnaligned(as: Integer.self)) : nil
    }
}
