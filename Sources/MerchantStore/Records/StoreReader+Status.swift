import GRDB
import MerchantCore
import Vocabulary

extension StoreReading {
    func counts(at moment: Timestamp) throws -> StoreCounts {
        let totals = Dictionary(
            uniqueKeysWithValues: try every("SELECT name, value FROM totals", []) {
                (try $0.text("name"), try $0.integer("value"))
            })
        var counts = StoreCounts()
        counts.merchants = totals["merchants", default: 0]
        counts.merchantsBelowTarget = totals["merchantsBelowTarget", default: 0]
        counts.certificates = totals["certificates", default: 0]
        counts.registrations = totals["registrations", default: 0]
        counts.registrationsDrifting = totals["registrationsDrifting", default: 0]
        counts.registrationCallsOpen = totals["registrationCallsOpen", default: 0]
        for state in KeyState.allCases { counts.keyPairs[state] = totals["keyPairs.\(state.rawValue)", default: 0] }
        counts.activeWithEndedCertificate =
            try first(
                """
                SELECT count(*) AS ended FROM key_pairs INDEXED BY key_pairs_ending
                WHERE state IN ('standby', 'current', 'retiring') AND ends_at < ?
                """, [moment.millisecondsSince1970]
            ) { try $0.integer("ended") } ?? 0
        counts.auditHead = try auditHead()
        // Records are never deleted and numbered without gaps.
        counts.auditRecords = counts.auditHead?.sequence ?? 0
        return counts
    }

    func merchantsBelowTarget(after cursor: MerchantIdentifier?, limit: Int) throws -> [MerchantBelowTarget] {
        try every(
            """
            SELECT identifier, active_key_pairs, target_active_key_pairs, current_ends_at
            FROM merchants INDEXED BY merchants_below_target
            WHERE removed_at IS NULL AND active_key_pairs < target_active_key_pairs AND identifier > ?
            ORDER BY identifier LIMIT ?
            """, [cursor?.rawValue ?? "", max(0, limit)]
        ) { row in
            MerchantBelowTarget(
                merchantIdentifier: try row.merchantIdentifier("identifier"),
                activeKeyPairs: try row.integer("active_key_pairs"),
                targetActiveKeyPairs: try row.integer("target_active_key_pairs"),
                currentEnds: try row.timestampIfAny("current_ends_at"))
        }
    }

    /// Of several certificates over one key pair the end of the one that ends last counts: until then one answers.
    func keyPairsEnding(before moment: Timestamp, limit: Int) throws -> [EndingKeyPair] {
        try every(
            """
            SELECT \(KeyPairRow.columns), ends_at FROM key_pairs INDEXED BY key_pairs_ending
            WHERE state IN ('standby', 'current', 'retiring') AND ends_at <= ? ORDER BY ends_at, id LIMIT ?
            """, [moment.millisecondsSince1970, max(0, limit)]
        ) { EndingKeyPair(keyPair: try KeyPairRow.keyPair($0), notAfter: try $0.timestamp("ends_at")) }
    }

    func daemonFact(_ name: String) throws -> String? {
        try first("SELECT value FROM daemon_facts WHERE name = ?", [name]) { try $0.text("value") }
    }
}
