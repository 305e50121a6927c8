package import MerchantCore
import StoreCore
import Synchronization
package import Vocabulary

/// Stores claimed payment tokens and nonces in the PostgreSQL database. If several different requests claim the same
/// token or nonce, even on several daemons, exactly one of them succeeds.
///
/// Claims have connections of their own and do not lock the audit, so they do not wait for other writes.
package final class PostgresClaims: ClaimLedger, NonceLedger, Sendable {
    /// The maximum number of claims in one commit.
    static let largestGroup = 512
    private static let readers = 2
    private static let removalInstruction =
        "stop all daemons, remove the rows of the table merchantkeyd.claims, and start the daemons"

    private let groups: WriteGroups<PendingClaim>
    private let pool: ConnectionPool
    private let jobs: JobQueue
    /// How long a read waits for a thread.
    private let longestWait: Duration
    private let newestClaimTime: NewestClaimTime
    private let clock: any WallClock

    /// Blocks the calling thread.
    ///
    /// - Throws: `storeUnavailable` if the newest claim cannot be read.
    package init(_ database: PostgresDatabase, clock: any WallClock) throws {
        let opener = database.opener
        let limits = opener.settings.limits
        self.clock = clock
        let latest = try PostgresErrors.translating { try ClaimRows.latestTime(on: try opener.open().connection) }
        let newestClaimTime = NewestClaimTime(latest, removal: Self.removalInstruction)
        self.newestClaimTime = newestClaimTime
        let removedClaims = RemovedClaims()
        pool = ConnectionPool(maximum: Self.readers, longestWait: limits.waiting) { try opener.open().connection }
        jobs = JobQueue(threads: Self.readers, longest: limits.queue)
        longestWait = limits.waiting
        groups = WriteGroups(
            .unaudited, opener: opener, limits: limits, largestGroup: Self.largestGroup, clock: clock
        ) { group, transaction in
            try Self.store(group, on: transaction.connection, newestClaimTime, removedClaims)
        }
    }

    private static func store(
        _ group: [PendingClaim], on connection: Connection, _ newestClaimTime: NewestClaimTime,
        _ removedClaims: RemovedClaims
    ) throws -> @Sendable () -> Void {
        // In this order, all claims of tokens come before those of nonces, so `outcomes` has the same indices as
        // `ordered`.
        let ordered = group.sorted { $0.order.lexicographicallyPrecedes($1.order) }
        let (outcomes, removedTo) = try ClaimRows.insert(
            ordered.compactMap(\.tokenClaim), on: connection, removedTo: removedClaims.id,
            after: { latest in
                // Another daemon may have stored the newest claim.
                latest.map(newestClaimTime.advance)
                return newestClaimTime.limit
            })
        var claims = ClaimGroup()
        for (index, pending) in ordered.enumerated() {
            try claims.add(
                pending, insertToken: { _ in outcomes[index] },
                insertNonce: { try NonceRows.insert($0, on: connection) })
        }
        claims.tokenTimes.max().map(newestClaimTime.advance)
        if let expired = ClaimRules.expired(after: ClaimRules.nonceRetention, whenStoring: claims.nonceTimes) {
            try NonceRows.remove(before: expired.before, count: expired.amongOldest, on: connection)
        }
        let returnResults = claims.returnResults
        return {
            removedTo.map(removedClaims.advance)
            returnResults()
        }
    }

    package var health: StoreHealth { groups.health }
    package func retryIfImpaired() {
        groups.retryIfImpaired {
            try ClaimRows.tryToInsert(on: $0.connection)
            try NonceRows.tryToInsert(on: $0.connection)
        }
    }

    /// How many claims wait for the next commit.
    var waitingClaims: Int { groups.waitingCount }

    package var clockBehindClaims: ClockBehindClaims? { newestClaimTime.clockBehindClaims(at: clock.now) }

    /// Refuses new claims, commits the waiting claims, and closes the connections. Blocks the calling thread.
    package func close() {
        groups.finish()
        pool.close()
    }

    package func claim(_ claim: TokenClaim) async throws -> ClaimOutcome {
        try await PendingClaim.claim(claim) { groups.add($0) }
    }

    package func claim(of transactionId: Bits256) async throws -> TokenClaim? {
        try await read { try ClaimRows.claim(of: transactionId, on: $0) }
    }

    package func claimNonce(_ claim: NonceClaim) async throws {
        try await PendingClaim.claimNonce(claim) { groups.add($0) }
    }

    package func nonceClaim(_ digest: Bits256) async throws -> NonceClaim? {
        try await read { try NonceRows.claim(digest, on: $0) }
    }

    /// Runs one query on a thread that may block. The query needs no transaction, because a single statement sees one
    /// state of the database.
    private func read<Result: Sendable>(
        _ query: @escaping @Sendable (Connection) throws -> Result
    ) async throws -> Result {
        try await jobs.run(waitingAtMost: longestWait) { [pool] in
            try PostgresErrors.translating {
                try pool.withConnection(query)
            }
        }
    }
}
