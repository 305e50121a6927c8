import GRDB
import MerchantCore
import Vocabulary

extension StoreTransaction {
    func insertRoll(
        of merchant: MerchantIdentifier, algorithm: KeyAlgorithm, from: PublicKeyHash?, to: PublicKeyHash,
        at time: Timestamp
    ) throws -> Roll {
        if let open = try openRoll(of: merchant, algorithm: algorithm) {
            throw MerchantError(
                .rollStateConflict,
                "\(merchant) already has an open roll for \(algorithm.rawValue), roll \(open.number): finish or abandon that roll first"
            )
        }
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
                merchant.rawValue, algorithm.rawValue, from?.data, time.millisecondsSince1970,
                time.millisecondsSince1970 + RollRow.firstReminder, time.millisecondsSince1970, to.data,
            ])
        guard let roll = try openRoll(of: merchant, algorithm: algorithm) else {
            throw MerchantError(
                .keyStateConflict,
                "no roll to key \(to) can start, because that key is revoked, destroyed or unknown: choose another key")
        }
        return roll
    }

    func update(_ roll: Roll) throws {
        // Sets `step` and `since` only if the roll has ended. For an open roll, the trigger
        // `rolls_follow_their_new_key` sets them.
        //
        // `idle_since`: since when the roll waits only for time to pass. `has_next_pair`: whether the key pair for the
        // merchant's next roll was prepared after this roll finished.
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
        guard changed == 1 else { throw MerchantError.rollNotFound(roll.number) }
    }
}
