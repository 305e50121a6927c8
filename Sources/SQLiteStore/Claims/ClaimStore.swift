import FoundationEssentials
import GRDB
package import MerchantCore
import Schema
package import Vocabulary

/// Stores claims of payment tokens, and of nonces of in-app provisioning. A claim is the record that a token or a nonce
/// was used, so that it is not used twice. The claims have an SQLite database of their own, so that claims and changes
/// of keys do not delay each other.
///
/// ``claim(_:)`` returns when the claim is on stable storage: the database has a write-ahead log, and the setting
/// `synchronous = FULL` syncs the log at each commit. One commit stores many claims. If several requests claim the same
/// payment, a unique index ensures that exactly one of them succeeds.
package final class ClaimStore: ClaimLedger, NonceLedger, Sendable {
    /// How many claims one commit stores at most.
    static let largestGroup = 512
    /// How many claims can wait for their commit. Further claims are refused with `overloaded`.
    static let longestQueue = 16384

    private let path: String
    private let queue: DatabaseQueue
    private let groups: WriteGroups<PendingClaim>
    private let newestClaimTime: NewestClaimTime
    private let clock: any WallClock

    private init(
        openedFiles: DatabaseFile.OpenedFiles, queue: DatabaseQueue, latestTime: Timestamp?, clock: any WallClock
    ) {
        path = openedFiles.path
        self.queue = queue
        self.clock = clock
        let newestClaimTime = NewestClaimTime(latestTime)
        self.newestClaimTime = newestClaimTime
        groups = WriteGroups(
            of: .claims, writer: queue, openedFiles: openedFiles, largestGroup: Self.largestGroup,
            longestQueue: Self.longestQueue, clock: clock
        ) { group, db in
            let limit = newestClaimTime.limit
            var (results, tokenTimes, nonceTimes): ([() -> Void], [Timestamp], [Timestamp]) = ([], [], [])
            for pending in group {
                switch pending {
                case .token(let pending):
                    let outcome = try ClaimRows.insert(pending.claim, after: limit, in: db)
                    if outcome == .success(.claimed) { tokenTimes.append(pending.claim.at) }
                    results.append { pending.returnOutcome(outcome) }
                case .nonce(let pending):
                    let earlier = try NonceRows.insert(pending.claim, in: db)
                    if earlier == nil { nonceTimes.append(pending.claim.at) }
                    results.append { pending.returnEarlierClaim(earlier) }
                }
            }
            tokenTimes.max().map(newestClaimTime.advance)
            try Self.removeExpired(afterStoring: tokenTimes, in: db)
            try Self.removeExpiredNonces(afterStoring: nonceTimes, in: db)
            return .init(returnResults: { [results] in for returnResult in results { returnResult() } })
        }
    }

    /// Opens the database, and creates it if there is none.
    ///
    /// - Throws: ``MerchantError`` `storeUnavailable` for a file that other users can access, that is damaged, that
    ///   another program created, or that a newer version of this program wrote.
    package static func open(path: String, clock: any WallClock = SystemClock()) throws -> ClaimStore {
        try SQLiteErrors.translating(of: .claims) {
            // SQLite gives names such as ":memory:" a special meaning, but not paths that begin with "./".
            let path = path.hasPrefix("/") ? path : "./" + path
            try DatabaseFile.createOrCheck(at: path)
            let openedFiles = try DatabaseFile.OpenedFiles(of: path)
            let queue = try Connections.openClaims(path: path)
            try queue.writeWithoutTransaction { db in
                try Migrations.apply(Schema.claimsMigrations, to: db, kind: .claims, at: clock.now)
            }
            let latestTime = try queue.read { try ClaimRows.latestTime(in: $0) }
            // By now SQLite has created the write-ahead log.
            openedFiles.recordWriteAheadLogIdentity()
            return ClaimStore(openedFiles: openedFiles, queue: queue, latestTime: latestTime, clock: clock)
        }
    }

    /// Checks the claims database without changing it, whether the daemon runs or not.
    ///
    /// - Throws: ``MerchantError`` `storeUnavailable` for a file that is damaged, that another program created, or that
    ///   a newer version of this program wrote.
    package static func inspect(path: String) throws {
        try SQLiteErrors.translating(of: .claims) {
            let queue = try DatabaseInspection.openReadOnly(path)
            defer { try? queue.close() }
            try queue.read { db in
                try Connections.refuseForeignDatabase(db, path: path, kind: .claims)
                try Migrations.requireKnownMigrations(Schema.claimsMigrations, in: db)
                if let first = try SQLiteStore.faults(in: db).first {
                    throw MerchantError(
                        .storeUnavailable,
                        "the claims database \(path) is damaged: \(first): \(DatabaseKind.claims.repair)")
                }
            }
        }
    }

    package var health: StoreHealth { groups.health }
    package var clockBehindClaims: ClockBehindClaims? { newestClaimTime.clockBehindClaims(at: clock.now) }

    var metricsSource: StoreMetrics.Database {
        StoreMetrics.Database(
            name: "claims", metrics: groups.metrics, waiting: { [groups] in groups.waitingCount }, path: path)
    }

    /// Refuses new claims, commits the waiting claims, and closes the database.
    package func close() throws {
        groups.finish()
        try SQLiteErrors.translating(of: .claims) { try queue.close() }
    }

    package func claim(_ claim: TokenClaim) async throws -> ClaimOutcome {
        try await withCheckedThrowingContinuation { continuation in
            groups.add(
                .token(
                    PendingTokenClaim(
                        claim: claim, returnOutcome: { continuation.resume(with: $0) },
                        refuse: { continuation.resume(throwing: $0) })))
        }
    }

    package func claim(of transactionId: Bits256) async throws -> TokenClaim? {
        try await SQLiteErrors.translating(of: .claims) {
            try await queue.read { try ClaimRows.claim(of: transactionId, in: $0) }
        }
    }

    package func claimNonce(_ claim: NonceClaim) async throws {
        let earlier: NonceClaim? = try await withCheckedThrowingContinuation { continuation in
            groups.add(
                .nonce(
                    PendingNonceClaim(
                        claim: claim, returnEarlierClaim: { continuation.resume(returning: $0) },
                        refuse: { continuation.resume(throwing: $0) })))
        }
        if let earlier { throw MerchantError.nonceAlreadyClaimed(at: earlier.at) }
    }

    package func nonceClaim(_ digest: Bits256) async throws -> NonceClaim? {
        try await SQLiteErrors.translating(of: .claims) {
            try await queue.read { try NonceRows.claim(digest, in: $0) }
        }
    }

    /// SQLite's settings on the connection, for tests.
    package func settings() throws -> [String: String] {
        try SQLiteErrors.translating(of: .claims) {
            try queue.writeWithoutTransaction { try Connections.settings(of: $0) }
        }
    }

    /// Removes expired claims of nonces, oldest first, after new claims were stored.
    private static func removeExpiredNonces(afterStoring newClaimTimes: [Timestamp], in db: Database) throws {
        guard let earliest = newClaimTimes.min() else { return }
        try NonceRows.remove(
            before: earliest.adding(.zero - ClaimRules.nonceRetention),
            amongOldest: newClaimTimes.count * ClaimRules.maximumRemovedPerClaim,
            in: db)
    }

    /// Removes expired claims of tokens, oldest first, after new claims were stored.
    ///
    /// A claim expires when it is older than the new claims by ``ClaimRules/retention``. The present time of the
    /// machine's clock is not used, because a clock that is ahead would remove claims too early. The time of a new claim
    /// is right within minutes, because the verifier has compared this time with the signing time of the token. While
    /// the clock is ahead, the verifier accepts no token, so there are no new claims, and no claim is removed.
    private static func removeExpired(afterStoring newClaimTimes: [Timestamp], in db: Database) throws {
        guard let earliest = newClaimTimes.min() else { return }
        try ClaimRows.remove(
            before: earliest.adding(.zero - ClaimRules.retention),
            amongOldest: newClaimTimes.count * ClaimRules.maximumRemovedPerClaim,
            in: db)
    }
}
