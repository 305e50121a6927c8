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
            INSERT INTO key_uses (key_pair_id, asked_count, asked_first, asked_last, proven_count, proven_first,
                proven_last, promotion_confirmed_at, alarmed_at)
            SELECT id, ?, ?, ?, ?, ?, ?, ?, ? FROM key_pairs WHERE public_key_hash = ?
            ON CONFLICT (key_pair_id) DO UPDATE SET asked_count = excluded.asked_count,
                asked_first = excluded.asked_first, asked_last = excluded.asked_last,
                proven_count = excluded.proven_count, proven_first = excluded.proven_first,
                proven_last = excluded.proven_last, promotion_confirmed_at = excluded.promotion_confirmed_at,
                alarmed_at = excluded.alarmed_at
            """,
            [
                use.askedFor?.count ?? 0, use.askedFor?.first.millisecondsSince1970,
                use.askedFor?.last.millisecondsSince1970, use.proven?.count ?? 0,
                use.proven?.first.millisecondsSince1970, use.proven?.last.millisecondsSince1970,
                use.promotionConfirmedAt?.millisecondsSince1970, use.alarmedAt?.millisecondsSince1970, hash.data,
            ])
    }

    /// One statement that reads nothing first: it runs for every key that was used. The key pair's own row is read only
    /// where a token was decrypted. What confirms a promotion is ``KeyUse/confirmPromotion(of:by:)``.
    func addKeyUse(_ use: KeyUse, of hash: PublicKeyHash) throws {
        let (provenFirst, provenLast) = (
            use.proven?.first.millisecondsSince1970, use.proven?.last.millisecondsSince1970
        )
        try execute(
            """
            INSERT INTO key_uses (key_pair_id, asked_count, asked_first, asked_last, proven_count, proven_first,
                proven_last, promotion_confirmed_at)
            SELECT id, ?, ?, ?, ?, ?, ?, CASE
                    WHEN ? IS NULL THEN NULL
                    WHEN state = 'current' AND ? >= state_since THEN iif(? >= state_since, ?, ?)
                END
            FROM key_pairs WHERE public_key_hash = ?
            ON CONFLICT (key_pair_id) DO UPDATE SET asked_count = asked_count + excluded.asked_count,
                asked_first = min(coalesce(asked_first, excluded.asked_first), coalesce(excluded.asked_first, asked_first)),
                asked_last = max(coalesce(asked_last, excluded.asked_last), coalesce(excluded.asked_last, asked_last)),
                proven_count = proven_count + excluded.proven_count,
                proven_first =
                    min(coalesce(proven_first, excluded.proven_first), coalesce(excluded.proven_first, proven_first)),
                proven_last =
                    max(coalesce(proven_last, excluded.proven_last), coalesce(excluded.proven_last, proven_last)),
                promotion_confirmed_at = coalesce(promotion_confirmed_at, excluded.promotion_confirmed_at)
            """,
            [
                use.askedFor?.count ?? 0, use.askedFor?.first.millisecondsSince1970,
                use.askedFor?.last.millisecondsSince1970, use.proven?.count ?? 0, provenFirst, provenLast,
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
            INSERT INTO key_warnings (key_pair_id, ends_at, days, warned_at)
            SELECT id, ?, ?, ? FROM key_pairs WHERE public_key_hash = ?
            """,
            [ends.millisecondsSince1970, days, moment.millisecondsSince1970, hash.data])
    }
}
