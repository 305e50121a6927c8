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
        try execute(
            """
            INSERT INTO rolls (merchant_identifier, algorithm, from_key, to_key, started_at, remind_at, step, since)
            SELECT ?, ?, ?, public_key_hash, ?, ?,
                CASE state WHEN 'pending' THEN 'started' WHEN 'current' THEN 'promoted' ELSE 'certificateStored' END, ?
            FROM key_pairs WHERE public_key_hash = ? AND state IN ('pending', 'standby', 'current', 'retiring')
            """,
            [
                merchant.rawValue, algorithm.rawValue, from?.bytes, time, time.adding(RollRow.firstReminder), time,
                to.bytes,
            ])
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
            SET idle_since = ?, remind_at = ?, ended_at = ?, reason = ?, has_next_pair = ?, step = coalesce(?, step),
                since = coalesce(?, since)
            WHERE id = ?
            """, RollRow.updateValues(roll))
        guard changed == 1 else { throw MerchantError.rollNotFound(roll.number) }
    }
}
