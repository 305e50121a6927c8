import GRDB
import MerchantCore
import Vocabulary

extension StoreReading {
    func roll(_ number: Int) throws -> Roll? {
        try first("SELECT \(RollRow.columns) FROM rolls WHERE id = ?", [number], RollRow.roll)
    }

    func openRoll(of merchant: MerchantIdentifier, algorithm: KeyAlgorithm) throws -> Roll? {
        try first(
            """
            SELECT \(RollRow.columns) FROM rolls INDEXED BY rolls_one_open
            WHERE merchant_identifier = ? AND algorithm = ? AND ended_at IS NULL
            """, [merchant.rawValue, algorithm.rawValue], RollRow.roll)
    }

    func rolls(_ filter: RollFilter, before cursor: Int?, limit: Int) throws -> [Roll] {
        var conditions = ["id < ?"]
        var arguments: StatementArguments = [cursor ?? Int.max]
        var index = ""
        switch filter.step {
        case nil: break
        case .open:
            index = "INDEXED BY rolls_open"
            conditions.append("ended_at IS NULL")
        case .state(let state, let moment):
            index = "INDEXED BY rolls_by_step"
            conditions.append("step = ?")
            arguments += [state == .quiet ? RollState.promoted.rawValue : state.rawValue]
            if state == .promoted || state == .quiet {
                conditions.append(state == .quiet ? "idle_since <= ?" : "(idle_since IS NULL OR idle_since > ?)")
                arguments += [moment.millisecondsSince1970]
            }
        }
        if let merchant = filter.merchant {
            index = "INDEXED BY rolls_of_merchant"
            conditions.append("merchant_identifier = ?")
            arguments += [merchant.rawValue]
        }
        return try every(
            """
            SELECT \(RollRow.columns) FROM rolls \(index)
            WHERE \(conditions.joined(separator: " AND ")) ORDER BY id DESC LIMIT ?
            """, arguments + [max(0, limit)], RollRow.roll)
    }

    func rollsWaitingLongest(limit: Int) throws -> [Roll] {
        try every(
            """
            SELECT \(RollRow.columns) FROM rolls INDEXED BY rolls_waiting
            WHERE ended_at IS NULL AND since >= 0 ORDER BY since, id LIMIT ?
            """, [max(0, limit)], RollRow.roll)
    }

    func rollCounts(quietIfIdleSince moment: Timestamp) throws -> [RollState: Int] {
        var counts: [RollState: Int] = [:]
        for (name, value) in try every(
            "SELECT name, value FROM totals WHERE name >= 'rolls.' AND name < 'rolls/'", [],
            { (try $0.text("name"), try $0.integer("value")) })
        {
            if let state = RollState(rawValue: String(name.dropFirst("rolls.".count))) { counts[state] = value }
        }
        let quiet =
            try first(
                """
                SELECT count(*) AS quiet FROM rolls INDEXED BY rolls_idle
                WHERE ended_at IS NULL AND idle_since IS NOT NULL AND idle_since <= ?
                """, [moment.millisecondsSince1970]
            ) { try $0.integer("quiet") } ?? 0
        counts[.quiet] = quiet
        counts[.promoted, default: 0] -= quiet
        return counts
    }

    func rollsIdle(since moment: Timestamp, limit: Int) throws -> [Roll] {
        try every(
            """
            SELECT \(RollRow.columns) FROM rolls INDEXED BY rolls_idle
            WHERE ended_at IS NULL AND idle_since IS NOT NULL AND idle_since <= ? ORDER BY idle_since LIMIT ?
            """, [moment.millisecondsSince1970, max(0, limit)], RollRow.roll)
    }

    func rollsIdle(after moment: Timestamp, limit: Int) throws -> [Roll] {
        try every(
            """
            SELECT \(RollRow.columns) FROM rolls INDEXED BY rolls_idle
            WHERE ended_at IS NULL AND idle_since IS NOT NULL AND idle_since > ? ORDER BY idle_since LIMIT ?
            """, [moment.millisecondsSince1970, max(0, limit)], RollRow.roll)
    }

    func rollsToRemind(at moment: Timestamp, limit: Int) throws -> [Roll] {
        try every(
            """
            SELECT \(RollRow.columns) FROM rolls INDEXED BY rolls_to_remind
            WHERE remind_at IS NOT NULL AND remind_at <= ? ORDER BY remind_at LIMIT ?
            """, [moment.millisecondsSince1970, max(0, limit)], RollRow.roll)
    }

    func rollsWithoutNextPair(limit: Int) throws -> [Roll] {
        try every(
            """
            SELECT \(RollRow.columns) FROM rolls INDEXED BY rolls_without_next_pair
            WHERE step = 'finished' AND has_next_pair = 0 AND id > 0 ORDER BY id LIMIT ?
            """, [max(0, limit)], RollRow.roll)
    }
}

// MARK: - Uses and the schedule

extension StoreReading {
    func keyUse(of hash: PublicKeyHash) throws -> KeyUse? {
        try first(
            """
            SELECT requests_count, requests_first, requests_last, decryptions_count, decryptions_first, decryptions_last,
                promotion_confirmed_at, alarmed_at
            FROM key_pairs JOIN key_uses ON key_uses.key_pair_id = key_pairs.id WHERE public_key_hash = ?
            """, [hash.data]
        ) { row in
            func use(_ name: String) throws -> ObservedUse? {
                guard let first = try row.timestampIfAny("\(name)_first") else { return nil }
                return ObservedUse(
                    count: try row.integer("\(name)_count"), first: first, last: try row.timestamp("\(name)_last"))
            }
            return KeyUse(
                requests: try use("requests"), decryptions: try use("decryptions"),
                promotionConfirmedAt: try row.timestampIfAny("promotion_confirmed_at"),
                alarmedAt: try row.timestampIfAny("alarmed_at"))
        }
    }

    /// Answered by indexes alone: asked for every key that was used, in a transaction that others wait for.
    func useHasConsequences(of hash: PublicKeyHash) throws -> Bool {
        try first(
            """
            SELECT EXISTS (SELECT 1 FROM rolls INDEXED BY rolls_open_from WHERE from_key = ? AND ended_at IS NULL)
                OR EXISTS (SELECT 1 FROM rolls INDEXED BY rolls_open_to WHERE to_key = ? AND ended_at IS NULL)
                OR EXISTS (
                    SELECT 1 FROM key_pairs INDEXED BY key_pairs_by_state WHERE state IN ('revoked', 'destroyed')
                        AND id = (SELECT id FROM key_pairs WHERE public_key_hash = ?)
                ) AS has_consequences
            """, [hash.data, hash.data, hash.data]
        ) { try $0.flag("has_consequences") } ?? false
    }

    func inStoredOrder(_ hashes: [PublicKeyHash]) throws -> [PublicKeyHash] {
        var found: [(id: Int64, hash: PublicKeyHash)] = []
        found.reserveCapacity(hashes.count)
        let statement = try db.cachedStatement(sql: "SELECT id FROM key_pairs WHERE public_key_hash = ?")
        for hash in hashes {
            if let id = try Int64.fetchOne(statement, arguments: [hash.data]) { found.append((id, hash)) }
        }
        found.sort { $0.id < $1.id }
        return found.map(\.hash)
    }

    func keyPairsToWatch(at moment: Timestamp, limit: Int) throws -> [ExpiringKeyPair] {
        try every(
            """
            SELECT \(KeyPairRow.columns), expires_at
            FROM key_watches INDEXED BY key_watches_due CROSS JOIN key_pairs ON key_pairs.id = key_watches.key_pair_id
            WHERE due_at IS NOT NULL AND due_at <= ? AND expires_at IS NOT NULL ORDER BY due_at LIMIT ?
            """, [moment.millisecondsSince1970, max(0, limit)]
        ) { ExpiringKeyPair(keyPair: try KeyPairRow.keyPair($0), notAfter: try $0.timestamp("expires_at")) }
    }

    func wasWarned(of ends: Timestamp, days: Int, key hash: PublicKeyHash) throws -> Bool {
        try first(
            """
            SELECT 1 FROM key_warnings
            WHERE key_pair_id = (SELECT id FROM key_pairs WHERE public_key_hash = ?) AND expires_at = ? AND days = ?
            """, [hash.data, ends.millisecondsSince1970, days], { _ in true }) ?? false
    }

    func keyPairsAwaitingDestruction(limit: Int) throws -> [KeyPair] {
        try every(
            """
            SELECT \(KeyPairRow.columns) FROM key_pairs INDEXED BY key_pairs_to_destroy
            WHERE destroy_after >= 0 ORDER BY destroy_after LIMIT ?
            """, [max(0, limit)], KeyPairRow.keyPair)
    }

    func countAwaitingDestruction() throws -> Int {
        try first("SELECT value FROM totals WHERE name = 'awaitingDestruction'", []) { try $0.integer("value") } ?? 0
    }
}
