import FoundationEssentials
import GRDB
import MerchantCore
import StoreCore
import Vocabulary

extension StoreTransaction {
    /// Replaces the stored counts and times. Does not report the key pair as changed: the observers of such changes are
    /// caches, and the caches do not contain these values.
    func setKeyUse(_ use: KeyUse, of hash: PublicKeyHash) throws {
        try execute(
            """
            INSERT INTO key_uses (key_pair_id, \(KeyUseRow.columns))
            SELECT id, ?, ?, ?, ?, ?, ?, ?, ?, ? FROM key_pairs WHERE public_key_hash = ?
            ON CONFLICT (key_pair_id) DO UPDATE SET requests_count = excluded.requests_count,
                requests_first = excluded.requests_first, requests_last = excluded.requests_last,
                decryptions_count = excluded.decryptions_count, decryptions_first = excluded.decryptions_first,
                decryptions_last = excluded.decryptions_last, promotion_confirmed_at = excluded.promotion_confirmed_at,
                alarmed_at = excluded.alarmed_at, standby_use_reported_at = excluded.standby_use_reported_at
            """, KeyUseRow.values(use) + [hash.bytes])
    }

    func addKeyUses(_ uses: [(key: PublicKeyHash, value: KeyUse)]) throws {
        for (hash, use) in uses { try add(use, of: hash) }
    }

    /// This method runs for every used key pair, so it is a single statement instead of a read and a write. The `CASE`
    /// confirms a promotion, and the statement reads the key pair's state only if a token was decrypted.
    private func add(_ use: KeyUse, of hash: PublicKeyHash) throws {
        let (first, last) = (
            use.decryptions?.first.millisecondsSince1970, use.decryptions?.last.millisecondsSince1970
        )
        // The arguments are an array literal of types that GRDB converts itself: this is the fastest form.
        try db.cachedStatement(
            sql: """
                INSERT INTO key_uses (key_pair_id, requests_count, requests_first, requests_last, decryptions_count, decryptions_first,
                    decryptions_last, promotion_confirmed_at)
                SELECT id, ?, ?, ?, ?, ?, ?, CASE
                        WHEN ? IS NULL THEN NULL
                        WHEN state = 'current' AND ? >= state_since THEN iif(? >= state_since, ?, ?)
                    END
                FROM key_pairs WHERE public_key_hash = ?
                ON CONFLICT (key_pair_id) DO UPDATE SET requests_count = requests_count + excluded.requests_count,
                    requests_first = min(coalesce(requests_first, excluded.requests_first), coalesce(excluded.requests_first, requests_first)),
                    requests_last = max(coalesce(requests_last, excluded.requests_last), coalesce(excluded.requests_last, requests_last)),
                    decryptions_count = decryptions_count + excluded.decryptions_count,
                    decryptions_first =
                        min(coalesce(decryptions_first, excluded.decryptions_first), coalesce(excluded.decryptions_first, decryptions_first)),
                    decryptions_last =
                        max(coalesce(decryptions_last, excluded.decryptions_last), coalesce(excluded.decryptions_last, decryptions_last)),
                    promotion_confirmed_at = coalesce(promotion_confirmed_at, excluded.promotion_confirmed_at)
                """
        ).execute(
            arguments: [
                use.requests?.count ?? 0, use.requests?.first.millisecondsSince1970,
                use.requests?.last.millisecondsSince1970, use.decryptions?.count ?? 0, first, last,
                // The next five values are for the `CASE`.
                last, last, first, first, last, Data(hash.bytes),
            ])
    }
}
