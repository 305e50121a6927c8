import FoundationEssentials
import GRDB
import MerchantCore
import Vocabulary

/// The SQL statements on the table `nonces`.
enum NonceRows {
    /// Inserts a claim, unless the nonce was already claimed.
    ///
    /// - Returns: the earlier claim of the same nonce; nil if the nonce is claimed now.
    static func insert(_ claim: NonceClaim, in db: Database) throws -> NonceClaim? {
        try db.cachedStatement(
            sql: "INSERT INTO nonces (digest, claimed_at, caller) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
        ).execute(arguments: [claim.digest.data, claim.at.millisecondsSince1970, claim.caller])
        guard db.changesCount == 0 else { return nil }
        return try self.claim(claim.digest, in: db)
    }

    static func claim(_ digest: Bits256, in db: Database) throws -> NonceClaim? {
        let row = try Row.fetchOne(
            db.cachedStatement(sql: "SELECT claimed_at, caller FROM nonces WHERE digest = ?"),
            arguments: [digest.data])
        return try row.map { row in
            NonceClaim(digest: digest, caller: try row.text("caller"), at: try row.timestamp("claimed_at"))
        }
    }

    /// Removes, among the `count` oldest claims, the claims that were made before `time`.
    static func remove(before time: Timestamp, amongOldest count: Int, in db: Database) throws {
        try db.cachedStatement(
            sql: """
                DELETE FROM nonces WHERE id IN (
                    SELECT id FROM (SELECT id, claimed_at FROM nonces ORDER BY id LIMIT ?) WHERE claimed_at < ?
                )
                """
        ).execute(arguments: [count, time.millisecondsSince1970])
    }
}
