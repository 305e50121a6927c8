import MerchantCore
import StoreCore
import Vocabulary

extension StoreTransaction {
    /// - Parameter time: nil if the key pair need not be checked until its state or certificates change.
    func setNextExpiryCheck(of hash: PublicKeyHash, at time: Timestamp?) throws {
        try execute(
            """
            UPDATE key_watches SET due_at = ?
            WHERE key_pair_id = (SELECT id FROM key_pairs WHERE public_key_hash = ?)
            """, [time, hash.bytes])
    }

    func recordExpiryWarning(of expiry: Timestamp, days: Int, key hash: PublicKeyHash, at time: Timestamp) throws {
        try execute(
            """
            INSERT INTO key_warnings (key_pair_id, expires_at, days, warned_at)
            SELECT id, ?, ?, ? FROM key_pairs WHERE public_key_hash = ?
            """,
            [expiry, days, time, hash.bytes])
    }
}
