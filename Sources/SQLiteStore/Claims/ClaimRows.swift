import FoundationEssentials
import GRDB
import MerchantCore
import StoreCore
import Vocabulary

/// The SQL statements on the table `claims`.
enum ClaimRows {
    /// Inserts a claim, unless the payment was already claimed or the Idempotency-Key was used for another request.
    ///
    /// - Parameters:
    ///   - limit: the time of the newest claim minus ``ClaimRules/toleratedSetBack``; nil if there are no claims. If
    ///     the new claim is not after this time, the machine's clock was set back. If the database also has no claim of
    ///     the same payment, such a claim may have been removed, so the new claim is refused.
    ///   - newest: is set to the new claim if it is inserted.
    /// - Returns: the outcome, or the error with which the claim is refused.
    /// - Throws: if the storage fails.
    static func insert(
        _ claim: TokenClaim, after limit: Timestamp?, newest: inout ClaimMark?, in db: Database
    ) throws -> Result<ClaimOutcome, MerchantError> {
        if let limit, claim.at <= limit, try self.claim(of: claim.transactionId, in: db) == nil {
            return .failure(ClaimRules.clockBehind(limit, at: claim.at))
        }
        // Runs for every payment token, so the arguments are an array literal of types that GRDB converts itself: this
        // is the fastest form.
        try db.cachedStatement(
            sql: """
                INSERT INTO claims (transaction_id, claimed_at, caller, key_digest, request_digest)
                VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
                """
        ).execute(
            arguments: [
                Data(claim.transactionId.bytes), claim.at.millisecondsSince1970, claim.caller,
                (claim.requestIdentity?.idempotencyKeyDigest.bytes).map { Data($0) },
                (claim.requestIdentity?.requestDigest.bytes).map { Data($0) },
            ])
        guard db.changesCount == 0 else {
            newest = ClaimMark(id: db.lastInsertedRowID, transactionId: claim.transactionId)
            return .success(.claimed)
        }
        let earlier = try self.claim(of: claim.transactionId, in: db)
        return try ClaimRules.result(of: claim, conflictingWith: earlier) {
            try isUsed($0, by: claim.caller, in: db)
        }
    }

    /// The claim of a payment; nil if there is none.
    static func claim(of transactionId: Bits256, in db: Database) throws -> TokenClaim? {
        try db.firstRow(
            "SELECT claimed_at, caller, key_digest, request_digest FROM claims WHERE transaction_id = ?",
            [transactionId.bytes]
        ) { row in
            let key = try row.digestIfAny("key_digest")
            let request = try row.digestIfAny("request_digest")
            return TokenClaim(
                transactionId: transactionId, caller: try row.text("caller"), at: try row.timestamp("claimed_at"),
                requestIdentity: key.flatMap { key in
                    request.map { .init(idempotencyKeyDigest: key, requestDigest: $0) }
                })
        }
    }

    /// Removes, among the `count` oldest claims, the claims that were made before `time`.
    static func remove(before time: Timestamp, amongOldest count: Int, in db: Database) throws {
        try db.execute(
            """
            DELETE FROM claims WHERE id IN (
                SELECT id FROM (SELECT id, claimed_at FROM claims ORDER BY id LIMIT ?) WHERE claimed_at < ?
            )
            """, [count, time])
    }

    /// The latest time of all claims; nil if there are no claims. Reads all rows, because the last row may not have the
    /// latest time: the clock may have been set back.
    static func latestTime(in db: Database) throws -> Timestamp? {
        try Int64.fetchOne(db, sql: "SELECT max(claimed_at) FROM claims").map(Timestamp.init(millisecondsSince1970:))
    }

    /// The newest claim; nil if there are no claims. A new claim always gets a higher id, because the newest claim is
    /// never removed.
    static func newest(in db: Database) throws -> ClaimMark? {
        try db.firstRow("SELECT id, transaction_id FROM claims ORDER BY id DESC LIMIT 1", []) { row in
            ClaimMark(id: try row.int64("id"), transactionId: try row.bits256("transaction_id"))
        }
    }

    /// Whether the database lacks a claim that was not removed by age.
    static func lacks(_ mark: ClaimMark, in db: Database) throws -> Bool {
        // If the log that contained the schema was emptied, there is no table until the daemon creates it again.
        guard try db.tableExists("claims") else { return true }
        let found = try db.firstRow("SELECT transaction_id FROM claims WHERE id = ?", [mark.id]) { row in
            try row.bits256("transaction_id")
        }
        if let found { return found != mark.transactionId }
        // The oldest claims are removed first, and the newest is never removed. So a claim was removed by age only if
        // all remaining claims have higher ids.
        let oldest = try Int64.fetchOne(db, sql: "SELECT min(id) FROM claims")
        return oldest.map { $0 <= mark.id } ?? true
    }

    /// Whether a claim of the caller has this digest of an Idempotency-Key.
    private static func isUsed(_ idempotencyKeyDigest: Bits256, by caller: String, in db: Database) throws -> Bool {
        try db.firstRow(
            "SELECT 1 FROM claims WHERE key_digest = ? AND caller = ?", [idempotencyKeyDigest.bytes, caller],
            { _ in true }) ?? false
    }
}

extension Row {
    fileprivate func digestIfAny(_ column: String) throws -> Bits256? {
        try decode(Data?.self, forColumn: column).flatMap { Bits256(bytes: $0) }
    }
}
