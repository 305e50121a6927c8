package import MerchantCore
import Vocabulary

/// Converts rows of the table `totals` to counts. Triggers update this table with each change, so that no large table
/// must be counted.
package enum TotalsRow {
    package static func total(_ row: some StoredRow) throws -> (name: String, value: Int) {
        (try row.text("name"), try row.integer("value"))
    }

    /// Returns ``StoreCounts`` with the counts that the table contains. The other counts are 0.
    package static func counts(_ rows: [(name: String, value: Int)]) -> StoreCounts {
        let totals = Dictionary(uniqueKeysWithValues: rows.map { ($0.name, $0.value) })
        var counts = StoreCounts()
        counts.merchants = totals["merchants", default: 0]
        counts.merchantsBelowTarget = totals["merchantsBelowTarget", default: 0]
        counts.certificates = totals["certificates", default: 0]
        counts.registrations = totals["registrations", default: 0]
        counts.registrationsDrifting = totals["registrationsDrifting", default: 0]
        counts.registrationCallsOpen = totals["registrationCallsOpen", default: 0]
        for state in KeyState.allCases { counts.keyPairs[state] = totals["keyPairs.\(state.rawValue)", default: 0] }
        return counts
    }

    /// - Parameters:
    ///   - rows: the rows whose names begin with `rolls.`.
    ///   - quiet: the number of quiet rolls, which the table counts as promoted.
    package static func rollCounts(_ rows: [(name: String, value: Int)], quiet: Int) -> [RollState: Int] {
        var counts: [RollState: Int] = [:]
        for (name, value) in rows {
            if let state = RollState(rawValue: String(name.dropFirst("rolls.".count))) { counts[state] = value }
        }
        counts[.quiet] = quiet
        counts[.promoted, default: 0] -= quiet
        return counts
    }
}
