import GRDB
import MerchantCore
import Vocabulary

extension StoreTransaction {
    func insertRoll(
        of merchant: MerchantIdentifier, algorithm: KeyAlgorithm, from: PublicKeyHash?, to: PublicKeyHash,
        at moment: Timestamp
    ) throws -> Roll {
        if let open = try openRoll(of: merchant, algorithm: algorithm) {
            throw MerchantError(
                .rollStateConflict,
                "roll \(open.rollId) of \(merchant) is open for \(algorithm.rawValue), expected none beside a new one")
        }
        try execute(
            """
            INSERT INTO rolls (merchant_identifier, algorithm, from_key, to_key, started_at, remind_at, step, since)
            SELECT ?, ?, ?, public_key_hash, ?, ?,
                CASE state WHEN 'pending' THEN 'started' WHEN 'current' THEN 'promoted' ELSE 'certificateStored' END, ?
            FROM key_pairs WHERE public_key_hash = ? AND state IN ('pending', 'standby', 'current', 'retiring')
            """,
            [
                merchant.rawValue, algorithm.rawValue, from?.data, moment.millisecondsSince1970,
                moment.millisecondsSince1970 + RollRow.firstReminder, moment.millisecondsSince1970, to.data,
            ])
        guard let roll = try openRoll(of: merchant, algorithm: algorithm) else {
            throw MerchantError(.keyStateConflict, "key \(to) cannot be rolled to, expected one that is not revoked")
        }
        return roll
    }

    func update(_ roll: Roll) throws {
        let changed = try execute(
            """
            UPDATE rolls
            SET idle_since = ?, remind_at = ?, ended_at = ?, reason = ?, has_next_pair = ?, step = coalesce(?, step),
                since = coalesce(?, since)
            WHERE id = ?
            """,
            [
                roll.idleSince?.millisecondsSince1970, roll.remindAt?.millisecondsSince1970,
                roll.endedAt?.millisecondsSince1970, roll.reason, roll.hasNextPair, roll.outcome?.rawValue,
                roll.endedAt?.millisecondsSince1970, roll.number,
            ])
        guard changed == 1 else { throw MerchantError(.rollNotFound, "there is no roll \(roll.number)") }
    }

    /// Changes nothing that a decryptor is answered, so nobody is told.
    func setKeyUse(_ use: KeyUse, of hash: PublicKeyHash) throws {
        try execute(
            """
            INSERT INTO key_uses (key_pair_id, requests_count, requests_first, requests_last, decryptions_count, decryptions_first,
                decryptions_last, promotion_confirmed_at, alarmed_at)
            SELECT id, ?, ?, ?, ?, ?, ?, ?, ? FROM key_pairs WHERE public_key_hash = ?
            ON CONFLICT (key_pair_id) DO UPDATE SET requests_count = excluded.requests_count,
                requests_first = excluded.requests_first, requests_last = excluded.requests_last,
                decryptions_count = excluded.decryptions_count, decryptions_first = excluded.decryptions_first,
                decryptions_last = excluded.decryptions_last, promotion_confirmed_at = excluded.promotion_confirmed_at,
                alarmed_at = excluded.alarmed_at
            """,
            [
                use.requests?.count ?? 0, use.requests?.first.millisecondsSince1970,
                use.requests?.last.millisecondsSince1970, use.decryptions?.count ?? 0,
                use.decryptions?.first.millisecondsSince1970, use.decryptions?.last.millisecondsSince1970,
                use.promotionConfirmedAt?.millisecondsSince1970, use.alarmedAt?.millisecondsSince1970, hash.data,
            ])
    }

    /// One statement that reads nothing first: it runs for every key that was used. The key pair's own row is read only
    /// where a token was decrypted. What confirms a promotion is ``KeyUse/confirmPromotion(of:by:)``.
    func addKeyUse(_ use: KeyUse, of hash: PublicKeyHash) throws {
        let (provenFirst, provenLast) = (
            use.decryptions?.first.millisecondsSince1970, use.decryptions?.last.millisecondsSince1970
        )
        try execute(
            """
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
            """,
            [
                use.requests?.count ?? 0, use.requests?.first.millisecondsSince1970,
                use.requests?.last.millisecondsSince1970, use.decryptions?.count ?? 0, provenFirst, provenLast,
                provenLast, provenLast, provenFirst, provenFirst, provenLast, hash.data,
            ])
    }

    func setNextWatch(of hash: PublicKeyHash, at moment: Timestamp?) throws {
        try execute(
            """
            UPDATE key_watches SET due_at = ?
            WHERE key_pair_id = (SELECT id FROM key_pairs WHERE public_key_hash = ?)
            """, [moment?.millisecondsSince1970, hash.data])
    }

    func noteWarning(of ends: Timestamp, days: Int, key hash: PublicKeyHash, at moment: Timestamp) throws {
        try execute(
            """
            INSERT INTO key_warnings (key_pair_id, expires_at, days, warned_at)
            SELECT id, ?, ?, ? FROM key_pairs WHERE public_key_hash = ?
            """,
            [ends.millisecondsSince1970, days, moment.millisecondsSince1970, hash.data])
    }
}
