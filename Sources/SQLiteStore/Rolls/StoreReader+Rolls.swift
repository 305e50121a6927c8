import MerchantCore
import StoreCore
import Vocabulary

// `since` is the time at which a roll reached its present step. `idle_since` is the time of the last request for the
// old key or of the last change of state of either key, whichever is later: each of them starts the quiet period again.
// `idle_since` is NULL until a token was decrypted with the new key after the promotion. It is always NULL if the old
// private key was exported, so such a roll never becomes quiet.

extension StoreReading {
    func roll(_ number: Int) throws -> Roll? {
        try firstRow("SELECT \(RollRow.columns) FROM rolls WHERE id = ?", [number], RollRow.roll)
    }

    func openRoll(of merchant: MerchantIdentifier, algorithm: KeyAlgorithm) throws -> Roll? {
        try firstRow(
            """
            SELECT \(RollRow.columns) FROM rolls INDEXED BY rolls_one_open
            WHERE merchant_identifier = ? AND algorithm = ? AND ended_at IS NULL
            """, [merchant.rawValue, algorithm.rawValue], RollRow.roll)
    }

    func rolls(_ filter: RollFilter, before cursor: Int?, limit: Int) throws -> [Roll] {
        var conditions = ["id < ?"]
        var arguments: Arguments = [cursor ?? Int.max]
        var index = ""
        switch filter.step {
        case nil: break
        case .open:
            index = "INDEXED BY rolls_open"
            conditions.append("ended_at IS NULL")
        case .state(let state, let quietCutoff):
            // A quiet roll is stored with the step `promoted`: a promoted roll is quiet if its `idle_since` is not
            // later than `quietCutoff`.
            index = "INDEXED BY rolls_by_step"
            conditions.append("step = ?")
            arguments += [state == .quiet ? RollState.promoted.rawValue : state.rawValue]
            if state == .promoted || state == .quiet {
                conditions.append(state == .quiet ? "idle_since <= ?" : "(idle_since IS NULL OR idle_since > ?)")
                arguments += [quietCutoff]
            }
        }
        if let merchant = filter.merchant {
            index = "INDEXED BY rolls_of_merchant"
            conditions.append("merchant_identifier = ?")
            arguments += [merchant.rawValue]
        }
        return try allRows(
            """
            SELECT \(RollRow.columns) FROM rolls \(index)
            WHERE \(conditions.joined(separator: " AND ")) ORDER BY id DESC LIMIT ?
            """, arguments + [max(0, limit)], RollRow.roll)
    }

    func rollsWaitingLongest(limit: Int) throws -> [Roll] {
        try allRows(
            """
            SELECT \(RollRow.columns) FROM rolls INDEXED BY rolls_waiting
            WHERE ended_at IS NULL AND since >= 0 ORDER BY since, id LIMIT ?
            """, [max(0, limit)], RollRow.roll)
    }

    func rollCounts(quietCutoff: Timestamp) throws -> [RollState: Int] {
        // The range contains all names that begin with 'rolls.', because '/' follows '.' in ASCII.
        let totals = try allRows(
            "SELECT name, value FROM totals WHERE name >= 'rolls.' AND name < 'rolls/'", [], TotalsRow.total)
        let quiet =
            try firstRow(
                """
                SELECT count(*) AS quiet FROM rolls INDEXED BY rolls_idle
                WHERE ended_at IS NULL AND idle_since IS NOT NULL AND idle_since <= ?
                """, [quietCutoff]
            ) { try $0.integer("quiet") } ?? 0
        return TotalsRow.rollCounts(totals, quiet: quiet)
    }

    func rollsIdleSince(notAfter time: Timestamp, limit: Int) throws -> [Roll] {
        try allRows(
            """
            SELECT \(RollRow.columns) FROM rolls INDEXED BY rolls_idle
            WHERE ended_at IS NULL AND idle_since IS NOT NULL AND idle_since <= ? ORDER BY idle_since LIMIT ?
            """, [time, max(0, limit)], RollRow.roll)
    }

    func rollsIdleSince(after time: Timestamp, limit: Int) throws -> [Roll] {
        try allRows(
            """
            SELECT \(RollRow.columns) FROM rolls INDEXED BY rolls_idle
            WHERE ended_at IS NULL AND idle_since IS NOT NULL AND idle_since > ? ORDER BY idle_since LIMIT ?
            """, [time, max(0, limit)], RollRow.roll)
    }

    func rollsToRemind(at time: Timestamp, limit: Int) throws -> [Roll] {
        try allRows(
            """
            SELECT \(RollRow.columns) FROM rolls INDEXED BY rolls_to_remind
            WHERE remind_at IS NOT NULL AND remind_at <= ? ORDER BY remind_at LIMIT ?
            """, [time, max(0, limit)], RollRow.roll)
    }

    func finishedRollsWithoutNextPair(limit: Int) throws -> [Roll] {
        try allRows(
            """
            SELECT \(RollRow.columns) FROM rolls INDEXED BY rolls_without_next_pair
            WHERE step = 'finished' AND has_next_pair = 0 AND id > 0 ORDER BY id LIMIT ?
            """, [max(0, limit)], RollRow.roll)
    }
}
