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

    /// Stores all uses with one statement, because other writes wait until it ends. The rows are locked in the order of
    /// their ids, so that two daemons that store uses of the same key pairs do not cause a deadlock.
    ///
    /// `LIMIT 1` makes PostgreSQL execute the subquery once for each use, as `OFFSET 0` does in
    /// ``StoreReading/keyPairsChanged(by:)``.
    func addKeyUses(_ uses: [(key: PublicKeyHash, value: KeyUse)]) throws {
        guard !uses.isEmpty else { return }
        try executeLater(
            """
            INSERT INTO key_uses AS stored (key_pair_id, requests_count, requests_first, requests_last, decryptions_count, decryptions_first,
                decryptions_last, promotion_confirmed_at)
            SELECT id, requests, requested_first, requested_last, decryptions, decrypted_first, decrypted_last, CASE
                    WHEN decrypted_last IS NULL THEN NULL
                    WHEN state = 'current' AND decrypted_last >= state_since
                        THEN CASE WHEN decrypted_first >= state_since THEN decrypted_first ELSE decrypted_last END
                END
            FROM unnest(
                \(HashList.array("$1")), \(IntegerList.array("$2")), \(IntegerList.array("$3")), \(IntegerList.array("$4")),
                \(IntegerList.array("$5")), \(IntegerList.array("$6")), \(IntegerList.array("$7"))
            ) AS used (hash, requests, requested_first, requested_last, decryptions, decrypted_first, decrypted_last)
            CROSS JOIN LATERAL (SELECT id, state, state_since FROM key_pairs WHERE public_key_hash = hash LIMIT 1) AS key_pair
            ORDER BY id
            ON CONFLICT (key_pair_id) DO UPDATE SET requests_count = stored.requests_count + excluded.requests_count,
                requests_first = least(stored.requests_first, excluded.requests_first),
                requests_last = greatest(stored.requests_last, excluded.requests_last),
                decryptions_count = stored.decryptions_count + excluded.decryptions_count,
                decryptions_first = least(stored.decryptions_first, excluded.decryptions_first),
                decryptions_last = greatest(stored.decryptions_last, excluded.decryptions_last),
                promotion_confirmed_at = coalesce(stored.promotion_confirmed_at, excluded.promotion_confirmed_at)
            """,
            [
                HashList.bytes(of: uses.map(\.key)),
                IntegerList.text(of: uses.map { $0.value.requests?.count ?? 0 }),
                IntegerList.text(of: uses.map { $0.value.requests?.first.millisecondsSince1970 }),
                IntegerList.text(of: uses.map { $0.value.requests?.last.millisecondsSince1970 }),
                IntegerList.text(of: uses.map { $0.value.decryptions?.count ?? 0 }),
                IntegerList.text(of: uses.map { $0.value.decryptions?.first.millisecondsSince1970 }),
                IntegerList.text(of: uses.map { $0.value.decryptions?.last.millisecondsSince1970 }),
            ])
    }
}
