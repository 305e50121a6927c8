import MerchantCore
import StoreCore
import Vocabulary

extension StoreTransaction {
    func insertRoll(
        of merchant: MerchantIdentifier, algorithm: KeyAlgorithm, from: PublicKeyHash?, to: PublicKeyHash,
        at time: Timestamp
    ) throws -> Roll {
        try requireNoOpenRoll(of: merchant, algorithm: algorithm)
        // The first step follows from the state of the new key, as in the trigger `rolls_follow_their_new_key`. Inserts
        // nothing if the new key is revoked, destroyed or unknown.
        try executeLater(
            """
            INSERT INTO rolls (merchant_identifier, algorithm, from_key, to_key, started_at, remind_at, step, since)
            SELECT $1::text, $2::text, $3::bytea, public_key_hash, $4::bigint, $5::bigint,
                CASE state WHEN 'pending' THEN 'started' WHEN 'current' THEN 'promoted' ELSE 'certificateStored' END, $4
            FROM key_pairs WHERE public_key_hash = $6 AND state IN ('pending', 'standby', 'current', 'retiring')
            """,
            [merchant.rawValue, algorithm.rawValue, from?.bytes, time, time.adding(RollRow.firstReminder), to.bytes])
        guard let roll = try openRoll(of: merchant, algorithm: algorithm) else {
            throw MerchantError.noRoll(to: to)
        }
        return roll
    }

    func update(_ roll: Roll) throws {
        // Sets `step` and `since` only if the roll has ended. For an open roll, the trigger
        // `rolls_follow_their_new_key` sets them.
        //
        // `idle_since`: the time since which the roll waits only for the quiet period to pass. `has_next_pair`: whether
        // the daemon has done what it does after a roll for the next one; see ``Roll``.
        let changed = try execute(
            """
            UPDATE rolls
            SET idle_since = $1, remind_at = $2, ended_at = $3, reason = $4, has_next_pair = $5, step = coalesce($6, step),
                since = coalesce($7, since)
            WHERE id = $8
            """, RollRow.updateValues(roll))
        guard changed == 1 else { throw MerchantError.rollNotFound(roll.number) }
    }
}
