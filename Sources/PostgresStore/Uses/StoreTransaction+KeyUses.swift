import MerchantCore
import StoreCore
import Vocabulary

extension StoreTransaction {
    /// Replaces the stored counts and times. Does not report the key pair as changed: the observers of such changes are
    /// caches, and the caches do not contain these values.
    func setKeyUse(_ use: KeyUse, of hash: PublicKeyHash) throws {
        try executeLater(
            """
            INSERT INTO key_uses (key_pair_id, \(KeyUseRow.columns))
            SELECT id, $1::bigint, $2::bigint, $3::bigint, $4::bigint, $5::bigint, $6::bigint, $7::bigint, $8::bigint, $9::bigint
            FROM key_pairs WHERE public_key_hash = $10
            ON CONFLICT (key_pair_id) DO UPDATE SET requests_count = excluded.requests_count,
                requests_first = excluded.requests_first, requests_last = excluded.requests_last,
                decryptions_count = excluded.decryptions_count, decryptions_first = excluded.decryptions_first,
                decryptions_last = excluded.decryptions_last, promotion_confirmed_at = excluded.promotion_confirmed_at,
                alarmed_at = excluded.alarmed_at, standby_use_reported_at = excluded.standby_use_reported_at
            """, KeyUseRow.values(use) + [hash.bytes])
    }

    /// Adds `use` to the stored counts and times. The first decryption after the key pair's promotion confirms the
    /// promotion, as in ``KeyUse/confirmPromotion(of:by:)``.
    ///
    /// This method runs for every used key pair, so it is a single statement instead of a read and a write. The `CASE`
    /// confirms a promotion, and the statement reads the key pair's state only if a token was decrypted.
    func addKeyUse(_ use: KeyUse, of hash: PublicKeyHash) throws {
        try executeLater(
            """
            INSERT INTO key_uses AS stored (key_pair_id, requests_count, requests_first, requests_last, decryptions_count, decryptions_first,
                decryptions_last, promotion_confirmed_at)
            SELECT id, $1::bigint, $2::bigint, $3::bigint, $4::bigint, $5::bigint, $6::bigint, CASE
                    WHEN $6::bigint IS NULL THEN NULL
                    WHEN state = 'current' AND $6 >= state_since THEN CASE WHEN $5::bigint >= state_since THEN $5 ELSE $6 END
                END
            FROM key_pairs WHERE public_key_hash = $7
            ON CONFLICT (key_pair_id) DO UPDATE SET requests_count = stored.requests_count + excluded.requests_count,
                requests_first = least(stored.requests_first, excluded.requests_first),
                requests_last = greatest(stored.requests_last, excluded.requests_last),
                decryptions_count = stored.decryptions_count + excluded.decryptions_count,
                decryptions_first = least(stored.decryptions_first, excluded.decryptions_first),
                decryptions_last = greatest(stored.decryptions_last, excluded.decryptions_last),
                promotion_confirmed_at = coalesce(stored.promotion_confirmed_at, excluded.promotion_confirmed_at)
            """, KeyUseRow.countValues(use) + [hash.bytes])
    }
}
