import MerchantCore
import StoreCore
import Vocabulary

// `since` is the time at which a roll reached its present step. `idle_since` is the time of the last request for the
// old key or of the last change of state of either key, whichever is later: each of them starts the quiet period again.
// `idle_since` is NULL until a token was decrypted with the new key after the promotion. It is always NULL if the old
// private key was exported, so such a roll never becomes quiet.

extension StoreReading {
    func roll(_ number: Int) throws -> Roll? {
        try firstRow("SELECT \(RollRow.columns) FROM rolls WHERE id = $1", [number], RollRow.roll)
    }

    func openRoll(of merchant: MerchantIdentifier, algorithm: KeyAlgorithm) throws -> Roll? {
        try firstRow(
            """
            SELECT \(RollRow.columns) FROM rolls
            WHERE merchant_identifier = $1 AND algorithm = $2 AND ended_at IS NULL
            """, [merchant.rawValue, algorithm.rawValue], RollRow.roll)
    }

    func rolls(_ filter: RollFilter, before cursor: Int?, limit: Int) throws -> [Roll] {
        var conditions = Conditions()
        conditions.add("id <", cursor ?? Int.max)
        conditions.add("merchant_identifier =", filter.merchant?.rawValue)
        switch filter.step {
        case nil: break
        case .open: conditions.add("ended_at IS NULL")
        case .state(let state, let quietCutoff):
            // A quiet roll is stored with the step `promoted`: a promoted roll is quiet if its `idle_since` is not
            // later than `quietCutoff`.
            conditions.add("step =", state == .quiet ? RollState.promoted.rawValue : state.rawValue)
            if state == .quiet { conditions.add("idle_since <=", quietCutoff) }
            if state == .promoted {
                conditions.add("(idle_since IS NULL OR idle_since > \(conditions.parameter(quietCutoff)))")
            }
        }
        let clause = conditions.clause
        let limit = conditions.parameter(max(0, limit))
        return try allRows(
            "SELECT \(RollRow.columns) FROM rolls \(clause) ORDER BY id DESC LIMIT \(limit)", conditions.arguments,
            RollRow.roll)
    }

    func rollsWaitingLongest(limit: Int) throws -> [Roll] {
        try allRows(
            """
            SELECT \(RollRow.columns) FROM rolls
            WHERE ended_at IS NULL ORDER BY since, id LIMIT $1
            """, [max(0, limit)], RollRow.roll)
    }

    func rollCounts(quietCutoff: Timestamp) throws -> [RollState: Int] {
        // The range contains all names that begin with 'rolls.', because '/' follows '.' in ASCII.
        let totals = try allRows(
            "SELECT name, value FROM totals WHERE name >= 'rolls.' AND name < 'rolls/'", [], TotalsRow.total)
        let quiet =
            try firstRow(
                """
                SELECT count(*) AS quiet FROM rolls
                WHERE ended_at IS NULL AND idle_since IS NOT NULL AND idle_since <= $1
                """, [quietCutoff]
            ) { try $0.integer("quiet") } ?? 0
        return TotalsRow.rollCounts(totals, quiet: quiet)
    }

    func rollsIdleSince(notAfter time: Timestamp, limit: Int) throws -> [Roll] {
        try allRows(
            """
            SELECT \(RollRow.columns) FROM rolls
            WHERE ended_at IS NULL AND idle_since IS NOT NULL AND idle_since <= $1 ORDER BY idle_since LIMIT $2
            """, [time, max(0, limit)], RollRow.roll)
    }

    func rollsIdleSince(after time: Timestamp, limit: Int) throws -> [Roll] {
        try allRows(
            """
            SELECT \(RollRow.columns) FROM rolls
            WHERE ended_at IS NULL AND idle_since IS NOT NULL AND idle_since > $1 ORDER BY idle_since LIMIT $2
            """, [time, max(0, limit)], RollRow.roll)
    }

    func rollsToRemind(at time: Timestamp, limit: Int) throws -> [Roll] {
        try allRows(
            """
            SELECT \(RollRow.columns) FROM rolls
            WHERE remind_at IS NOT NULL AND remind_at <= $1 ORDER BY remind_at LIMIT $2
            """, [time, max(0, limit)], RollRow.roll)
    }

    func finishedRollsWithoutNextPair(limit: Int) throws -> [Roll] {
        try allRows(
            """
            SELECT \(RollRow.columns) FROM rolls
            WHERE step = 'finished' AND NOT has_next_pair ORDER BY id LIMIT $1
            """, [max(0, limit)], RollRow.roll)
    }
}
