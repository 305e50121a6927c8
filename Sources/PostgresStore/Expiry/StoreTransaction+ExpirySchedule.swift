import MerchantCore
import StoreCore
import Vocabulary

extension StoreTransaction {
    /// - Parameter time: nil if the key pair need not be checked until its state or certificates change.
    func setNextExpiryCheck(of hash: PublicKeyHash, at time: Timestamp?) throws {
        try executeLater(
            """
            UPDATE key_watches SET due_at = $1
            WHERE key_pair_id = (SELECT id FROM key_pairs WHERE public_key_hash = $2)
            """, [time, hash.bytes])
    }

    func recordExpiryWarning(of expiry: Timestamp, days: Int, key hash: PublicKeyHash, at time: Timestamp) throws {
        try executeLater(
            """
            INSERT INTO key_warnings (key_pair_id, expires_at, days, warned_at)
            SELECT id, $1::bigint, $2::bigint, $3::bigint FROM key_pairs WHERE public_key_hash = $4
            """,
            [expiry, days, time, hash.bytes])
    }
}
