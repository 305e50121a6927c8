import MerchantCore
import Vocabulary

extension FleetOperations {
    /// At most this many rolls of a state are read, to find those that wait for an admin.
    private static let maximumRead = 500
    /// The end of the year 9999. As `quietCutoff`, this time makes every idle roll count as quiet.
    private static let endOfTime = Timestamp(millisecondsSince1970: 253_402_300_799_000)

    /// Counts the rolls without reading each of them. Reads only rolls for which the state alone does not show who must
    /// act: those whose new key has a certificate and is not promoted, and those that wait for a first token and may
    /// have an exported old key.
    ///
    /// - Parameter now: the time for which the rolls' states are computed.
    func rollCounts(in reading: any Reader, at now: Timestamp) throws -> FleetRollCounts {
        let byState = try reading.rollCounts(quietCutoff: now.adding(.zero - policy.quietPeriod))
        let byIdleness = try reading.rollCounts(quietCutoff: Self.endOfTime)
        let quiet = byState[.quiet, default: 0]
        let idle = byIdleness[.quiet, default: 0]
        let unconfirmed = byIdleness[.promoted, default: 0]
        let exported = try countWaitingForAdmin(.promoted, in: reading, at: now)
        let certified = byState[.certificateStored, default: 0]
        let unpromoted = try countWaitingForAdmin(.certificateStored, in: reading, at: now)
        let byParty: [RollParty: Int] = [
            .merchant: byState[.started, default: 0] + certified - unpromoted,
            .admin: unpromoted + exported + (policy.finishesWhenQuiet ? 0 : quiet),
            .apple: unconfirmed - exported,
            .time: idle - quiet + (policy.finishesWhenQuiet ? quiet : 0),
        ]
        return FleetRollCounts(byState: byState, byParty: byParty)
    }

    /// How many of the first ``maximumRead`` rolls in this state wait for an admin.
    private func countWaitingForAdmin(
        _ state: RollState, in reading: any Reader, at now: Timestamp
    ) throws -> Int {
        let rolls = try reading.rolls(
            RollFilter(merchant: nil, step: .state(state, quietCutoff: Self.endOfTime)), before: nil,
            limit: Self.maximumRead)
        return try reading.views(rolls, policy, at: now).count { $0.progress.waitingFor == .admin }
    }
}
