import MerchantCore
import StoreCore
import Vocabulary

/// The SQL statements on the table `claims`.
enum ClaimRows {
    /// Inserts each claim, unless its payment was already claimed or its Idempotency-Key was used for another request.
    ///
    /// - Parameter limit: the time of the newest claim minus ``ClaimRules/toleratedSetBack``; nil if there are no
    ///   claims. If a new claim is not after this time, the machine's clock was set back. If the database then has no
    ///   claim of the same payment, such a claim may have been removed, so the new claim is refused.
    /// - Returns: the outcome of each claim, or the error with which the claim is refused.
    static func insert(
        _ claims: [TokenClaim], after limit: Timestamp?, on connection: Connection
    ) throws -> [Result<ClaimOutcome, MerchantError>] {
        var outcomes: [Result<ClaimOutcome, MerchantError>?] = try claims.map { claim in
            guard let limit, claim.at <= limit, try self.claim(of: claim.transactionId, on: connection) == nil else {
                return nil
            }
            return .failure(ClaimRules.clockBehind(limit, at: claim.at))
        }
        let inserted = claims.indices.filter { outcomes[$0] == nil }
        // If another daemon is inserting a conflicting row, this statement waits for the commit of that daemon. READ
        // COMMITTED lets the queries below see that row.
        let results = try connection.queryEach(
            """
            INSERT INTO claims (transaction_id, claimed_at, caller, key_digest, request_digest)
            VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING
            """,
            inserted.map { index in
                let claim = claims[index]
                return [
                    claim.transactionId.bytes, claim.at, claim.caller,
                    claim.requestIdentity?.idempotencyKeyDigest.bytes, claim.requestIdentity?.requestDigest.bytes,
                ]
            })
        for (index, result) in zip(inserted, results) where result.changedRows > 0 {
            outcomes[index] = .success(.claimed)
        }
        return try zip(claims, outcomes).map { claim, outcome in
            if let outcome { return outcome }
            let earlier = try self.claim(of: claim.transactionId, on: connection)
            return try ClaimRules.result(of: claim, conflictingWith: earlier) {
                try isUsed($0, by: claim.caller, on: connection)
            }
        }
    }

    /// Inserts a row and removes it, to find out whether claims can be stored. No payment has the identifier of this row.
    static func tryToInsert(on connection: Connection) throws {
        let identifier = [UInt8](repeating: 0, count: 32)
        _ = try connection.query(
            "INSERT INTO claims (transaction_id, claimed_at, caller) VALUES ($1, 0, 'trial') ON CONFLICT DO NOTHING",
            [identifier])
        _ = try connection.query("DELETE FROM claims WHERE transaction_id = $1", [identifier])
    }

    /// The claim of a payment; nil if there is none.
    static func claim(of transactionId: Bits256, on connection: Connection) throws -> TokenClaim? {
        try connection.query(
            "SELECT claimed_at, caller, key_digest, request_digest FROM claims WHERE transaction_id = $1",
            [transactionId.bytes]
        ).first.map { row in
            let key = try row.bits256IfAny("key_digest")
            let request = try row.bits256IfAny("request_digest")
            return TokenClaim(
                transactionId: transactionId, caller: try row.text("caller"), at: try row.timestamp("claimed_at"),
                requestIdentity: key.flatMap { key in
                    request.map { .init(idempotencyKeyDigest: key, requestDigest: $0) }
                })
        }
    }

    /// Removes, among the `count` oldest claims with a higher id than `id`, the claims that were made before `time`.
    /// Skips rows that another daemon is removing.
    ///
    /// - Returns: the id up to which no claim is left; nil if there was no claim.
    static func remove(
        before time: Timestamp, amongOldest count: Int, above id: Int64, on connection: Connection
    ) throws -> Int64? {
        try connection.query(
            """
            WITH oldest AS (
                SELECT id, claimed_at FROM claims WHERE id > $3 ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED
            ), removed AS (
                DELETE FROM claims WHERE id IN (SELECT id FROM oldest WHERE claimed_at < $2)
            )
            SELECT coalesce(min(id) FILTER (WHERE claimed_at >= $2) - 1, max(id)) AS removed_to FROM oldest
            """, [count, time, id]
        ).first?.int64IfAny("removed_to")
    }

    /// The latest time of all claims, of every daemon; nil if there are no claims.
    static func latestTime(on connection: Connection) throws -> Timestamp? {
        try connection.query("SELECT max(claimed_at) AS latest FROM claims").first?.timestampIfAny("latest")
    }

    /// Whether a claim of the caller has this digest of an Idempotency-Key.
    private static func isUsed(
        _ idempotencyKeyDigest: Bits256, by caller: String, on connection: Connection
    ) throws -> Bool {
        try connection.query(
            "SELECT true FROM claims WHERE key_digest = $1 AND caller = $2", [idempotencyKeyDigest.bytes, caller]
        ).count > 0
    }
}
