package import Vocabulary

/// One row of a query's result. Each store conforms its own type of rows to this protocol. So the conversions from rows
/// to values exist once, and not once for each database.
///
/// The methods throw an error if a column has no valid value. Methods with `IfAny` in their name return nil for NULL;
/// for the other methods, NULL is not a valid value.
///
/// The conversions are generic and take `some StoredRow`, so that reading a column allocates nothing for the row.
package protocol StoredRow {
    func text(_ column: String) throws -> String
    func textIfAny(_ column: String) throws -> String?
    func int64(_ column: String) throws -> Int64
    func int64IfAny(_ column: String) throws -> Int64?
    func bytes(_ column: String) throws -> [UInt8]
    /// Reads 32 bytes without an array, because hashes of keys are read most often.
    func bits256IfAny(_ column: String) throws -> Bits256?
    func flag(_ column: String) throws -> Bool
}
