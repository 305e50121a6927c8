import MerchantCore
import StoreCore
import Vocabulary

/// The statements on the table `key_changes`, from which each daemon learns which key pairs others have changed.
///
/// A change is appended in the transaction that makes it. These transactions run one after another, because each of
/// them locks the row `audit_head` first. So a reader that has seen a number has seen every lower number.
enum KeyChangeLog {
    /// How long changes are kept: longer than a lease. A daemon whose lease has ended empties its caches instead of
    /// reading changes.
    private static let retention = "interval '1 hour'"

    /// - Returns: the number of the change.
    static func append(_ hashes: Set<PublicKeyHash>, on connection: Connection) throws -> Int {
        let added = try connection.query(
            "INSERT INTO key_changes (public_key_hashes) VALUES ($1) RETURNING number", [hashes.flatMap(\.bytes)])
        guard let number = try added.first?.integer("number") else {
            throw MerchantError(
                .internalError, "an insertion returned no row, and nothing was changed: report this error")
        }
        return number
    }

    /// - Returns: the key pairs that were changed after the change `number`, and the number of the last change; nil if
    ///   there are none.
    static func changes(
        after number: Int, on connection: Connection
    ) throws -> (hashes: Set<PublicKeyHash>, last: Int)? {
        var hashes: Set<PublicKeyHash> = []
        var last: Int?
        let found = try connection.query(
            "SELECT number, public_key_hashes FROM key_changes WHERE number > $1 ORDER BY number", [number])
        for row in found.rows {
            last = try row.integer("number")
            // The table's CHECK allows only a multiple of 32 bytes.
            let bytes = try row.bytes("public_key_hashes")
            for begin in stride(from: 0, to: bytes.count, by: 32) {
                if let hash = PublicKeyHash(bytes: bytes[begin..<min(begin + 32, bytes.count)]) { hashes.insert(hash) }
            }
        }
        return last.map { (hashes, $0) }
    }

    static func removeOld(on connection: Connection) throws {
        // Not `clock_timestamp()`: it changes during the statement, so PostgreSQL could not use the index.
        try connection.run("DELETE FROM key_changes WHERE changed_at < statement_timestamp() - \(retention)")
    }
}
