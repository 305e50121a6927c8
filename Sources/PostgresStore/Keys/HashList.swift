import Vocabulary

/// Several publicKeyHashes as one parameter of a statement: their bytes one after the other.
enum HashList {
    static func bytes(of hashes: [PublicKeyHash]) -> [UInt8] { hashes.flatMap(\.bytes) }

    /// The SQL after `column =`, to select the rows with one of the hashes. PostgreSQL evaluates the array once, and
    /// searches the index of the column for each element.
    static func any(_ parameter: String) -> String { "ANY (\(array(parameter)))" }

    /// An SQL expression: the hashes as a PostgreSQL array, in the same order.
    static func array(_ parameter: String) -> String {
        """
        ARRAY(
            SELECT substring(\(parameter)::bytea FROM 32 * i + 1 FOR 32)
            FROM generate_series(0, octet_length(\(parameter)::bytea) / 32 - 1) AS i
        )
        """
    }
}
