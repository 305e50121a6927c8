package import Vocabulary

/// A value that can be a parameter of a statement.
package protocol SQLValue: Sendable {
    /// The value as a column stores it.
    var stored: StoredValue { get }
}

/// The parameters of a statement, in the order of its placeholders. nil is NULL.
package typealias Arguments = [(any SQLValue)?]

/// A value in one of the types of columns. Each store converts it to its database's own format.
package enum StoredValue: Hashable, Sendable {
    case integer(Int64)
    case text(String)
    case bytes([UInt8])
    case flag(Bool)
}

extension Int: SQLValue {
    package var stored: StoredValue { .integer(Int64(self)) }
}

extension Int64: SQLValue {
    package var stored: StoredValue { .integer(self) }
}

extension Int32: SQLValue {
    package var stored: StoredValue { .integer(Int64(self)) }
}

extension UInt32: SQLValue {
    package var stored: StoredValue { .integer(Int64(self)) }
}

extension Bool: SQLValue {
    package var stored: StoredValue { .flag(self) }
}

extension String: SQLValue {
    package var stored: StoredValue { .text(self) }
}

extension [UInt8]: SQLValue {
    package var stored: StoredValue { .bytes(self) }
}

extension Timestamp: SQLValue {
    /// Milliseconds since 1970.
    package var stored: StoredValue { .integer(millisecondsSince1970) }
}
