import GRDB
import MerchantCore
import StoreCore
import Vocabulary

/// The SQL statements on the table `nonces`.
enum NonceRows {
    /// Inserts a claim, unless the nonce was already claimed.
    ///
    /// - Returns: the earlier claim of the same nonce; nil if the nonce is claimed now.
    static func insert(_ claim: NonceClaim, in db: Database) throws -> NonceClaim? {
        let inserted = try db.execute(
            "INSERT INTO nonces (digest, claimed_at, caller) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
            [claim.digest.bytes, claim.at, claim.caller])
        return inserted == 0 ? try self.claim(claim.digest, in: db) : nil
    }

    static func claim(_ digest: Bits256, in db: Database) throws -> NonceClaim? {
        try db.firstRow("SELECT claimed_at, caller FROM nonces WHERE digest = ?", [digest.bytes]) { row in
            NonceClaim(digest: digest, caller: try row.text("caller"), at: try row.timestamp("claimed_at"))
        }
    }

    /// Removes, among the `count` oldest claims, the claims that were made before `time`.
    static func remove(before time: Timestamp, amongOldest count: Int, in db: Database) throws {
        try db.execute(
            """
            DELETE FROM nonces WHERE id IN (
                SELECT id FROM (SELECT id, claimed_at FROM nonces ORDER BY id LIMIT ?) WHERE claimed_at < ?
            )
            """, [count, time])
    }
}
