import FoundationEssentials
package import GRDB
import StoreCore
package import Vocabulary

/// Reads the columns of SQLite's rows. GRDB's `decode` throws an error if a column has no valid value. GRDB's
/// subscripts would end the process instead.
extension Row: StoredRow {
    package func text(_ column: String) throws -> String { try decode(String.self, forColumn: column) }

    package func textIfAny(_ column: String) throws -> String? { try decode(String?.self, forColumn: column) }

    package func int64(_ column: String) throws -> Int64 { try decode(Int64.self, forColumn: column) }

    package func int64IfAny(_ column: String) throws -> Int64? { try decode(Int64?.self, forColumn: column) }

    package func bytes(_ column: String) throws -> [UInt8] { Array(try decode(Data.self, forColumn: column)) }

    package func bits256IfAny(_ column: String) throws -> Bits256? {
        try decode(Data?.self, forColumn: column).map { try value(Bits256(bytes: $0.span), of: column) }
    }

    /// SQLite has no type for truth values; they are 0 and 1.
    package func flag(_ column: String) throws -> Bool { try int64(column) != 0 }
}
