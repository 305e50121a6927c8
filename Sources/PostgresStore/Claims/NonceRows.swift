import MerchantCore
import StoreCore
import Vocabulary

/// The SQL statements on the table `nonces`.
enum NonceRows {
    /// Inserts a claim, unless the nonce was already claimed.
    ///
    /// - Returns: the earlier claim of the same nonce; nil if the nonce is claimed now.
    static func insert(_ claim: NonceClaim, on connection: Connection) throws -> NonceClaim? {
        let inserted = try connection.query(
            "INSERT INTO nonces (digest, claimed_at, caller) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
            [claim.digest.bytes, claim.at, claim.caller]
        ).changedRows
        return inserted == 0 ? try self.claim(claim.digest, on: connection) : nil
    }

    /// Inserts a row and removes it, to find out whether claims can be stored. No nonce has the digest of this row.
    static func tryToInsert(on connection: Connection) throws {
        let digest = [UInt8](repeating: 0, count: 32)
        _ = try connection.query(
            "INSERT INTO nonces (digest, claimed_at, caller) VALUES ($1, 0, 'trial') ON CONFLICT DO NOTHING", [digest])
        _ = try connection.query("DELETE FROM nonces WHERE digest = $1", [digest])
    }

    static func claim(_ digest: Bits256, on connection: Connection) throws -> NonceClaim? {
        try connection.query("SELECT claimed_at, caller FROM nonces WHERE digest = $1", [digest.bytes]).first.map {
            row in
            NonceClaim(digest: digest, caller: try row.text("caller"), at: try row.timestamp("claimed_at"))
        }
    }

    /// Removes up to `count` of the oldest claims, if they were made before `time`. Skips rows that another daemon is
    /// removing. Locks no other rows, because each lock writes to the write-ahead log.
    static func remove(before time: Timestamp, count: Int, on connection: Connection) throws {
        try connection.sendLater(
            """
            DELETE FROM nonces WHERE id = ANY (ARRAY(
                SELECT id FROM nonces WHERE id = ANY (ARRAY(
                    SELECT id FROM (SELECT id, claimed_at FROM nonces ORDER BY id LIMIT $1 * \(ClaimRows.removalWindow)) AS oldest
                    WHERE claimed_at < $2
                ))
                ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED
            ))
            """, [count, time])
    }
}
