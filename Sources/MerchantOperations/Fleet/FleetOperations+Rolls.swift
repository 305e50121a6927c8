package import MerchantCore
import Vocabulary

extension FleetOperations {
    /// The largest number of rolls that one call reads to find those that wait for a party.
    private static let maximumRollsRead = 1000
    private static let rollsPerRead = 100
    /// At most this many rolls that wait for a first token are read, to find those whose old key was exported.
    private static let maximumUnconfirmedRead = 500
    /// The end of the year 9999. As the time since which a roll must be idle, it makes every idle roll count as quiet.
    private static let endOfTime = Timestamp(millisecondsSince1970: 253_402_300_799_000)

    /// Open rolls that wait for a party, newest first, starting before the roll number `cursor`, at most `limit`.
    package func rolls(
        waitingFor party: RollParty, before cursor: Int?, limit: Int
    ) async throws -> FleetRollPage {
        let now = confirmedTime.reading().earliest
        return try await records.read { reading in
            let filter = RollFilter(merchant: nil, step: Self.step(of: party))
            var found: [RollView] = []
            var last = cursor
            var read = 0
            while read < Self.maximumRollsRead {
                let page = try reading.rolls(filter, before: last, limit: Self.rollsPerRead)
                for roll in page {
                    last = roll.number
                    let view = try reading.view(roll, policy, at: now)
                    if view.progress.waitingFor == party { found.append(view) }
                    if found.count >= limit { return FleetRollPage(rolls: found, next: last) }
                }
                guard page.count == Self.rollsPerRead else { return FleetRollPage(rolls: found, next: nil) }
                read += page.count
            }
            return FleetRollPage(rolls: found, next: last)
        }
    }

    /// The narrowest filter that contains every roll that waits for the party.
    private static func step(of party: RollParty) -> RollFilter.Step {
        switch party {
        case .merchant: .state(.started, quietIfIdleSince: endOfTime)
        // A promoted roll that is not idle waits for the first token, or for an admin if the old key was exported.
        case .apple: .state(.promoted, quietIfIdleSince: endOfTime)
        case .admin, .time, .none: .open
        }
    }

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
