import MerchantCore
import StoreCore
import Vocabulary

// The table `key_watches` contains the time at which the expiry of each active key pair is checked next. The table
// `key_warnings` contains the expiry warnings that were sent: one for each expiry and number of days before it.

extension StoreReading {
    func keyPairsDueForExpiryCheck(at time: Timestamp, limit: Int) throws -> [ExpiringKeyPair] {
        try allRows(
            """
            SELECT \(KeyPairRow.columns), expires_at
            FROM key_watches JOIN key_pairs ON key_pairs.id = key_watches.key_pair_id
            WHERE due_at IS NOT NULL AND due_at <= $1 AND expires_at IS NOT NULL ORDER BY due_at LIMIT $2
            """, [time, max(0, limit)], KeyPairRow.expiringKeyPair)
    }

    func wasExpiryWarningSent(of expiry: Timestamp, days: Int, key hash: PublicKeyHash) throws -> Bool {
        try firstRow(
            """
            SELECT 1 FROM key_warnings
            WHERE key_pair_id = (SELECT id FROM key_pairs WHERE public_key_hash = $1) AND expires_at = $2 AND days = $3
            """, [hash.bytes, expiry, days], { _ in true }) ?? false
    }

    // `expires_at` is the time at which the key pair's last certificate expires, because the key pair has a valid
    // certificate until then.
    func keyPairsExpiring(by time: Timestamp, limit: Int) throws -> [ExpiringKeyPair] {
        try allRows(
            """
            SELECT \(KeyPairRow.columns), expires_at FROM key_pairs
            WHERE state IN ('standby', 'current', 'retiring') AND expires_at <= $1 ORDER BY expires_at, id LIMIT $2
            """, [time, max(0, limit)], KeyPairRow.expiringKeyPair)
    }
}
