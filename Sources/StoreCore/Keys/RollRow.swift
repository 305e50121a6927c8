package import MerchantCore
import Vocabulary

/// Converts a row of `rolls` to a roll, and a roll to the values of the columns that an update changes.
package enum RollRow {
    package static let columns = """
        id, merchant_identifier, algorithm, from_key, to_key, started_at, idle_since, remind_at, ended_at, reason,
        has_next_pair, step
        """

    package static func roll(_ row: some StoredRow) throws -> Roll {
        let endedAt = try row.timestampIfAny("ended_at")
        return Roll(
            number: try row.integer("id"), merchantIdentifier: try row.merchantIdentifier(),
            algorithm: try row.oneOf(KeyAlgorithm.self, "algorithm"), from: try row.publicKeyHashIfAny("from_key"),
            to: try row.publicKeyHash("to_key"), startedAt: try row.timestamp("started_at"),
            idleSince: try row.timestampIfAny("idle_since"), remindAt: try row.timestampIfAny("remind_at"),
            // While the roll is open, `step` is its state. After its end, `step` is the outcome.
            outcome: endedAt == nil ? nil : try row.oneOf(Roll.Outcome.self, "step"), endedAt: endedAt,
            reason: try row.textIfAny("reason"), hasNextPair: try row.flag("has_next_pair"))
    }

    /// The time from the start of a roll to its first reminder: 7 days. Whenever the state of the new key changes, the
    /// trigger `rolls_follow_their_new_key` sets the next reminder to 7 days later.
    package static let firstReminder = Duration.seconds(604_800)

    /// The values of `idle_since`, `remind_at`, `ended_at`, `reason` and `has_next_pair`, the new `step` and `since` of
    /// a roll that has ended, and the id. The new `step` and `since` of an open roll are NULL, because the trigger
    /// `rolls_follow_their_new_key` sets them.
    package static func updateValues(_ roll: Roll) -> Arguments {
        [
            roll.idleSince, roll.remindAt, roll.endedAt, roll.reason, roll.hasNextPair, roll.outcome?.rawValue,
            roll.endedAt, roll.number,
        ]
    }
}
