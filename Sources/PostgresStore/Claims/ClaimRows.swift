import MerchantCore
import StoreCore
import Vocabulary

/// The SQL statements on the table `claims`.
enum ClaimRows {
    /// Inserts each claim, unless its payment was already claimed or its Idempotency-Key was used for another request.
    /// Also removes expired claims: see ``ClaimRules/expired(after:whenStoring:)``.
    ///
    /// - Parameters:
    ///   - removedTo: the id up to which no claim is left. Only claims with a higher id are removed.
    ///   - limit: gets the time of the newest claim in the database, nil if there was none before the insertion.
    ///     Returns the time of the newest claim that this daemon knows, minus ``ClaimRules/toleratedSetBack``. If a new
    ///     claim is not after the returned time, the machine's clock was set back. If the database also has no claim of
    ///     the same payment, such a claim may have been removed, so the new claim is refused.
    /// - Returns: the outcome of each claim, or the error with which the claim is refused; and the id up to which no
    ///   claim is left, nil if that is not known.
    static func insert(
        _ claims: [TokenClaim], on connection: Connection, removedTo: Int64,
        after limit: (_ latest: Timestamp?) -> Timestamp?
    ) throws -> (outcomes: [Result<ClaimOutcome, MerchantError>], removedTo: Int64?) {
        guard let expired = ClaimRules.expired(after: ClaimRules.retention, whenStoring: claims.map(\.at)) else {
            return ([], nil)
        }
        // If another daemon is inserting a conflicting row, an insertion waits for the commit of that daemon. READ
        // COMMITTED lets the queries below see that row.
        let insertions = claims.map { claim in
            Query(
                """
                INSERT INTO claims (transaction_id, claimed_at, caller, key_digest, request_digest)
                VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING
                """,
                [
                    claim.transactionId.bytes, claim.at, claim.caller,
                    claim.requestIdentity?.idempotencyKeyDigest.bytes, claim.requestIdentity?.requestDigest.bytes,
                ])
        }
        let results = try connection.queries(
            [Query(latestTimeQuery)] + insertions
                + [removal(before: expired.before, count: expired.amongOldest, above: removedTo)])
        let limit = limit(try results.first?.first?.timestampIfAny("latest"))
        let outcomes: [Result<ClaimOutcome, MerchantError>] = try zip(claims, results.dropFirst()).map {
            claim, result in
            guard result.changedRows == 0 else {
                guard let limit, claim.at <= limit else { return .success(.claimed) }
                try remove(claim, on: connection)
                return .failure(ClaimRules.clockBehind(limit, at: claim.at))
            }
            let earlier = try self.claim(of: claim.transactionId, on: connection)
            if earlier == nil, let limit, claim.at <= limit {
                return .failure(ClaimRules.clockBehind(limit, at: claim.at))
            }
            return try ClaimRules.result(of: claim, conflictingWith: earlier) {
                try isUsed($0, by: claim.caller, on: connection)
            }
        }
        return (outcomes, try results.last?.first?.int64IfAny("removed_to"))
    }

    private static func remove(_ claim: TokenClaim, on connection: Connection) throws {
        try connection.sendLater("DELETE FROM claims WHERE transaction_id = $1", [claim.transactionId.bytes])
    }

    /// Inserts a row and removes it, to find out whether claims can be stored. No payment has the identifier of this
    /// row.
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

    /// Removes up to `count` of the oldest claims with a higher id than `id`: those that were made before `time`, and
    /// longer than ``ClaimRules/retention`` before the newest stored claim. If all new claims are refused, `time` can
    /// be too late. The second condition then keeps the claims that have not expired.
    ///
    /// Skips rows that another daemon is removing. Locks no other rows, because each lock writes to the write-ahead
    /// log. `= ANY (ARRAY(…))` makes PostgreSQL look up each id in the index, however many rows it expects.
    ///
    /// The result has the column `removed_to`: the id up to which no claim is left; NULL if no claim has a higher id
    /// than `id`.
    private static func removal(before time: Timestamp, count: Int, above id: Int64) -> Query {
        Query(
            """
            WITH oldest AS MATERIALIZED (
                SELECT id, claimed_at FROM claims WHERE id > $3 ORDER BY id LIMIT $1 * \(removalWindow)
            ), expired AS MATERIALIZED (
                SELECT id FROM claims WHERE id = ANY (ARRAY(
                    SELECT id FROM oldest WHERE claimed_at < least($2, (SELECT max(claimed_at) - $4 FROM claims))
                ))
                ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED
            ), removed AS (
                DELETE FROM claims WHERE id = ANY (ARRAY(SELECT id FROM expired))
            )
            SELECT coalesce(min(id) FILTER (WHERE id <> ALL (ARRAY(SELECT id FROM expired))) - 1, max(id)) AS removed_to
            FROM oldest
            """, [count, time, id, ClaimRules.retention.milliseconds])
    }

    /// How many times more of the oldest claims are read than removed, so that the removal finds enough rows that no
    /// other daemon is removing.
    static let removalWindow = 4

    /// The latest time of all claims, of every daemon; nil if there are no claims.
    static func latestTime(on connection: Connection) throws -> Timestamp? {
        try connection.query(latestTimeQuery).first?.timestampIfAny("latest")
    }

    private static let latestTimeQuery = "SELECT max(claimed_at) AS latest FROM claims"

    /// Whether a claim of the caller has this digest of an Idempotency-Key.
    private static func isUsed(
        _ idempotencyKeyDigest: Bits256, by caller: String, on connection: Connection
    ) throws -> Bool {
        try connection.query(
            "SELECT true FROM claims WHERE key_digest = $1 AND caller = $2", [idempotencyKeyDigest.bytes, caller]
        ).count > 0
    }
}
