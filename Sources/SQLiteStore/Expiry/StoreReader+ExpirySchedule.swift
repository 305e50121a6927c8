import MerchantCore
import StoreCore
import Vocabulary

// The table `key_watches` contains the time at which the expiry of each active key pair is checked next. The table
// `key_warnings` contains the expiry warnings that were sent: one for each expiry time and each number of days before
// this time.

extension StoreReading {
    func keyPairsDueForExpiryCheck(at time: Timestamp, limit: Int) throws -> [ExpiringKeyPair] {
        try allRows(
            """
            SELECT \(KeyPairRow.columns), expires_at
            FROM key_watches INDEXED BY key_watches_due CROSS JOIN key_pairs ON key_pairs.id = key_watches.key_pair_id
            WHERE due_at IS NOT NULL AND due_at <= ? AND expires_at IS NOT NULL ORDER BY due_at LIMIT ?
            """, [time, max(0, limit)], KeyPairRow.expiringKeyPair)
    }

    func wasExpiryWarningSent(of expiry: Timestamp, days: Int, key hash: PublicKeyHash) throws -> Bool {
        try firstRow(
            """
            SELECT 1 FROM key_warnings
            WHERE key_pair_id = (SELECT id FROM key_pairs WHERE public_key_hash = ?) AND expires_at = ? AND days = ?
            """, [hash.bytes, expiry, days], { _ in true }) ?? false
    }

    // `expires_at` is the time at which the key pair's last certificate expires, because the key pair has a valid
    // certificate until then.
    func keyPairsExpiring(by time: Timestamp, limit: Int) throws -> [ExpiringKeyPair] {
        try allRows(
            """
            SELECT \(KeyPairRow.columns), expires_at FROM key_pairs INDEXED BY key_pairs_ending
            WHERE state IN ('standby', 'current', 'retiring') AND expires_at <= ? ORDER BY expires_at, id LIMIT ?
            """, [time, max(0, limit)], KeyPairRow.expiringKeyPair)
    }
}
