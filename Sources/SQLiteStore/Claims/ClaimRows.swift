import FoundationEssentials
import GRDB
import MerchantCore
import Vocabulary

/// The SQL statements on the table `claims`.
enum ClaimRows {
    /// Inserts a claim unless the payment was already claimed or the Idempotency-Key was used for another request.
    ///
    /// - Parameter limit: a new claim whose time is not after this is refused. The machine's clock was then set back,
    ///   and an earlier claim of the same payment may have been removed. nil: no new claim is refused for its time.
    /// - Returns: the outcome, or the reason for which the claim is refused.
    /// - Throws: if the storage fails.
    static func insert(
        _ claim: TokenClaim, after limit: Timestamp?, in db: Database
    ) throws -> Result<ClaimOutcome, MerchantError> {
        if let limit, claim.at <= limit, try self.claim(of: claim.transactionId, in: db) == nil {
            return .failure(
                MerchantError(
                    .tokenNotVerified,
                    "signingTime: the machine's clock shows \(claim.at), but payments were claimed at \(limit.adding(ClaimStore.longestSetBack)): the clock was set back, and an earlier claim of this payment may have been removed; set the clock"
                ))
        }
        try db.cachedStatement(
            sql: """
                INSERT INTO claims (transaction_id, claimed_at, caller_uid, key_digest, request_digest)
                VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
                """
        ).execute(
            arguments: [
                claim.transactionId.data, claim.at.millisecondsSince1970, claim.callerUID,
                claim.attempt?.keyDigest.data, claim.attempt?.requestDigest.data,
            ])
        guard db.changesCount == 0 else { return .success(.won) }
        // The claim conflicts with an earlier claim of the payment, or with a request that used the same
        // Idempotency-Key. If the payment has no claim, it was the key.
        guard let earlier = try self.claim(of: claim.transactionId, in: db) else { return .failure(Self.reusedKey) }
        if earlier.isRepeated(by: claim) { return .success(.repeated(wonAt: earlier.at)) }
        if let attempt = claim.attempt, try isUsed(attempt.keyDigest, by: claim.callerUID, in: db) {
            return .failure(Self.reusedKey)
        }
        return .failure(
            MerchantError(
                .tokenAlreadyClaimed,
                "the payment was already claimed at \(earlier.at), expected one that was never claimed"
            ))
    }

    static func claim(of transactionId: Words256, in db: Database) throws -> TokenClaim? {
        let row = try Row.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT claimed_at, caller_uid, key_digest, request_digest FROM claims WHERE transaction_id = ?
                    """), arguments: [transactionId.data])
        return try row.map { row in
            let key = try row.digestIfAny("key_digest")
            let request = try row.digestIfAny("request_digest")
            return TokenClaim(
                transactionId: transactionId, callerUID: try row.decode(UInt32.self, forColumn: "caller_uid"),
                at: try row.timestamp("claimed_at"),
                attempt: key.flatMap { key in request.map { .init(keyDigest: key, requestDigest: $0) } })
        }
    }

    /// Removes those of the `count` oldest claims that were made before `time`.
    static func remove(before time: Timestamp, checking count: Int, in db: Database) throws {
        try db.cachedStatement(
            sql: """
                DELETE FROM claims WHERE id IN (
                    SELECT id FROM (SELECT id, claimed_at FROM claims ORDER BY id LIMIT ?) WHERE claimed_at < ?
                )
                """
        ).execute(arguments: [count, time.millisecondsSince1970])
    }

    /// The latest time of all claims. The last row may have an earlier time, if the clock was set back before it was
    /// inserted.
    static func newest(in db: Database) throws -> Timestamp? {
        try Int64.fetchOne(db, sql: "SELECT max(claimed_at) FROM claims").map(Timestamp.init(millisecondsSince1970:))
    }

    private static func isUsed(_ keyDigest: Words256, by uid: UInt32, in db: Database) throws -> Bool {
        try Row.fetchOne(
            db.cachedStatement(sql: "SELECT 1 FROM claims WHERE key_digest = ? AND caller_uid = ?"),
            arguments: [keyDigest.data, uid]) != nil
    }

    private static let reusedKey = MerchantError(
        .idempotencyKeyReused,
        "the Idempotency-Key was already used for another request, expected a new key for a new request")
}

extension Words256 {
    /// The bytes as a column stores them.
    fileprivate var data: Data { Data(bytes) }
}

extension Row {
    fileprivate func digestIfAny(_ column: String) throws -> Words256? {
        try decode(Data?.self, forColumn: column).flatMap { Words256(bytes: $0) }
    }
}
