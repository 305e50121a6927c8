import MerchantCore
import StoreCore
import Vocabulary

extension StoreReading {
    func counts(at time: Timestamp) throws -> StoreCounts {
        var counts = TotalsRow.counts(try allRows("SELECT name, value FROM totals", [], TotalsRow.total))
        counts.activeWithExpiredCertificate =
            try firstRow(
                """
                SELECT count(*) AS ended FROM key_pairs INDEXED BY key_pairs_ending
                WHERE state IN ('standby', 'current', 'retiring') AND expires_at < ?
                """, [time]
            ) { try $0.integer("ended") } ?? 0
        counts.auditHead = try auditHead()
        // Audit records are numbered from 1 without gaps and never deleted, so the last sequence is the number of
        // records.
        counts.auditRecords = counts.auditHead?.sequence ?? 0
        return counts
    }
}

// MARK: - Expiring key pairs and merchants below their target

// `expires_at` is the time at which the last certificate of a key pair expires. `current_ends_at` is the earliest
// `expires_at` of a merchant's current key pairs for payment processing. (A merchant can have one for each algorithm.)

extension StoreReading {
    func countKeyPairsExpiring(_ filter: ActiveKeyPairFilter, from begin: Timestamp, to end: Timestamp) throws -> Int {
        try firstRow(
            """
            SELECT count(*) AS ending FROM key_pairs \(filter.indexAndCondition) AND expires_at >= ? AND expires_at < ?
            """, [begin, end]
        ) { try $0.integer("ending") } ?? 0
    }

    func keyPairsExpiring(
        _ filter: ActiveKeyPairFilter, from begin: Timestamp, to end: Timestamp, limit: Int
    ) throws -> [ExpiringKeyPair] {
        try allRows(
            """
            SELECT \(KeyPairRow.columns), expires_at FROM key_pairs \(filter.indexAndCondition) AND expires_at >= ? AND expires_at < ?
            ORDER BY expires_at, id LIMIT ?
            """, [begin, end, max(0, limit)], KeyPairRow.expiringKeyPair)
    }

    func merchantsBelowTarget(afterMerchant cursor: MerchantIdentifier?, limit: Int) throws -> [MerchantBelowTarget] {
        try allRows(
            """
            SELECT \(BelowTargetRow.columns) FROM merchants INDEXED BY merchants_below_target
            WHERE removed_at IS NULL AND active_key_pairs < target_active_key_pairs AND identifier > ?
            ORDER BY identifier LIMIT ?
            """, [cursor?.rawValue ?? "", max(0, limit)], BelowTargetRow.merchant)
    }

    func countBelowTarget(certificateExpiringFrom begin: Timestamp, to end: Timestamp) throws -> Int {
        try firstRow(
            """
            SELECT count(*) AS below FROM merchants INDEXED BY merchants_below_target_ending
            WHERE removed_at IS NULL AND active_key_pairs < target_active_key_pairs AND current_ends_at IS NOT NULL
                AND current_ends_at >= ? AND current_ends_at < ?
            """, [begin, end]
        ) { try $0.integer("below") } ?? 0
    }

    func merchantsBelowTarget(certificateExpiringBy time: Timestamp, limit: Int) throws -> [MerchantBelowTarget] {
        try allRows(
            """
            SELECT \(BelowTargetRow.columns) FROM merchants INDEXED BY merchants_below_target_ending
            WHERE removed_at IS NULL AND active_key_pairs < target_active_key_pairs AND current_ends_at IS NOT NULL
                AND current_ends_at <= ?
            ORDER BY current_ends_at LIMIT ?
            """, [time, max(0, limit)], BelowTargetRow.merchant)
    }

    func countWithoutActiveKeyPair() throws -> Int {
        try firstRow(
            """
            SELECT count(*) AS without FROM merchants INDEXED BY merchants_without_active_key_pair
            WHERE removed_at IS NULL AND active_key_pairs = 0 AND had_active_key_pair = 1
                AND target_active_key_pairs > 0 AND identifier > ''
            """, []
        ) { try $0.integer("without") } ?? 0
    }

    func merchantsWithoutActiveKeyPair(limit: Int) throws -> [MerchantBelowTarget] {
        try allRows(
            """
            SELECT \(BelowTargetRow.columns) FROM merchants INDEXED BY merchants_without_active_key_pair
            WHERE removed_at IS NULL AND active_key_pairs = 0 AND had_active_key_pair = 1
                AND target_active_key_pairs > 0 AND identifier > ''
            ORDER BY identifier LIMIT ?
            """, [max(0, limit)], BelowTargetRow.merchant)
    }
}

// MARK: - Key pairs whose issuer was not verified, and standby key pairs in use

extension StoreReading {
    func countIssuerNotVerified() throws -> Int {
        try firstRow(
            """
            SELECT count(*) AS not_verified FROM key_pairs INDEXED BY key_pairs_issuer_not_verified
            WHERE issuer_not_verified = 1 AND state IN ('standby', 'current', 'retiring') AND id > 0
            """, []
        ) { try $0.integer("not_verified") } ?? 0
    }

    func keyPairsWithIssuerNotVerified(limit: Int) throws -> [KeyPair] {
        try allRows(
            """
            SELECT \(KeyPairRow.columns) FROM key_pairs INDEXED BY key_pairs_issuer_not_verified
            WHERE issuer_not_verified = 1 AND state IN ('standby', 'current', 'retiring') AND id > 0
            ORDER BY id LIMIT ?
            """, [max(0, limit)], KeyPairRow.keyPair)
    }

    func countStandbyKeyPairsInUse() throws -> Int {
        try firstRow("SELECT count(*) AS in_use FROM (\(standbyKeyPairIdsInUse)) AS found", []) {
            try $0.integer("in_use")
        } ?? 0
    }

    func standbyKeyPairsInUse(limit: Int) throws -> [KeyPair] {
        try allRows(
            """
            SELECT \(KeyPairRow.columns) FROM key_pairs WHERE id IN (\(standbyKeyPairIdsInUse))
            ORDER BY id LIMIT ?
            """, [max(0, limit)], KeyPairRow.keyPair)
    }
}

/// The SQL that selects the ids of the key pairs of ``StatusReading/countStandbyKeyPairsInUse()``. It reads only key
/// pairs whose use was reported, which are few.
private let standbyKeyPairIdsInUse = """
    SELECT standby.id
    FROM key_uses AS used INDEXED BY key_uses_standby
    CROSS JOIN key_pairs AS standby ON standby.id = used.key_pair_id
    LEFT JOIN key_pairs AS present ON present.merchant_identifier = standby.merchant_identifier
        AND present.purpose = standby.purpose AND present.algorithm = standby.algorithm AND present.state = 'current'
    LEFT JOIN key_uses AS present_use ON present_use.key_pair_id = present.id
    WHERE used.standby_use_reported_at > 0 AND standby.state = 'standby'
        AND (present.id IS NULL OR used.decryptions_last > max(
            present.state_since, coalesce(present_use.decryptions_last, present.state_since)))
        AND NOT EXISTS (
            SELECT 1 FROM rolls INDEXED BY rolls_open_to WHERE to_key = standby.public_key_hash AND ended_at IS NULL
        )
    """

extension ActiveKeyPairFilter {
    /// The SQL that selects the filter's key pairs: the name of the index and the beginning of the clause `WHERE`. Each
    /// index contains exactly the rows that fulfil its condition, so a count reads only the index.
    fileprivate var indexAndCondition: String {
        switch self {
        case .active: "INDEXED BY key_pairs_ending WHERE state IN ('standby', 'current', 'retiring')"
        case .current: "INDEXED BY key_pairs_current_ending WHERE state = 'current'"
        case .notCurrent: "INDEXED BY key_pairs_not_current_ending WHERE state IN ('standby', 'retiring')"
        }
    }
}
