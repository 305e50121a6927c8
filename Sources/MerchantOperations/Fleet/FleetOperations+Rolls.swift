import MerchantCore
import Vocabulary

extension FleetOperations {
    /// At most this many rolls that wait for a first token are read, to find those whose old key was exported.
    private static let maximumUnconfirmedRead = 500
    /// The end of the year 9999. As the time since which a roll must be idle, it makes every idle roll count as quiet.
    private static let endOfTime = Timestamp(millisecondsSince1970: 253_402_300_799_000)

    /// Counts the rolls without reading each of them.
    ///
    /// - Parameter now: the time for which the rolls' states are computed.
    func rollCounts(in reading: any Reader, at now: Timestamp) throws -> FleetRollCounts {
        let byState = try reading.rollCounts(quietIfIdleSince: now.adding(.zero - policy.quietPeriod))
        let byIdleness = try reading.rollCounts(quietIfIdleSince: Self.endOfTime)
        let quiet = byState[.quiet, default: 0]
        let idle = byIdleness[.quiet, default: 0]
        let unconfirmed = byIdleness[.promoted, default: 0]
        let exported = try reading.rolls(
            RollFilter(merchant: nil, step: .state(.promoted, quietIfIdleSince: Self.endOfTime)), before: nil,
            limit: Self.maximumUnconfirmedRead
        ).count { try reading.view($0, policy, at: now).progress.waitingFor == .admin }
        let byParty: [RollParty: Int] = [
            .merchant: byState[.started, default: 0],
            .admin: byState[.certificateStored, default: 0] + exported + (policy.finishesWhenQuiet ? 0 : quiet),
            .apple: unconfirmed - exported,
            .time: idle - quiet + (policy.finishesWhenQuiet ? quiet : 0),
        ]
        return FleetRollCounts(byState: byState, byParty: byParty)
    }
}
