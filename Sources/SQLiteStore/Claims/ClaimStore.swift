import FoundationEssentials
import GRDB
package import MerchantCore
import Schema
import Synchronization
package import Vocabulary

/// Stores claims of payment tokens in an SQLite database of their own, so that claims and changes of keys do not delay
/// each other.
///
/// ``claim(_:)`` returns when the claim is on stable storage: the database has a write-ahead log, and the setting
/// `synchronous = FULL` syncs the log at each commit. One commit stores many claims. A unique index ensures that
/// exactly one of several claims of a payment wins.
package final class ClaimStore: ClaimLedger, Sendable {
    /// The shortest time that a claim is kept: one hour. To refuse replays, ten minutes would suffice, because a token
    /// is accepted for twice the verifier's time window of five minutes. With one hour, a client can also repeat a
    /// request after an outage.
    package static let retention = Duration.seconds(3600)
    /// If the machine's clock is behind the newest claim by this time or more, it was set back. The verifier may then
    /// accept old tokens whose claims were removed, so the store refuses new claims.
    ///
    /// The time is longer than two time windows of the verifier, so that no token that Apple signs now is refused. It
    /// is at least two windows shorter than ``retention``, so that every token whose claim was removed is refused.
    package static let longestSetBack = Duration.seconds(1800)
    /// The most expired claims that are removed for each new one. With more than one, the table can shrink. With few,
    /// commits stay short.
    package static let sweepPerClaim = 2
    /// The most claims in one commit.
    static let largestGroup = 512
    /// The most claims that wait. Further ones are refused with `overloaded`.
    static let longestQueue = 16384

    /// A claim that waits until its group is committed.
    struct PendingClaim: GroupedWrite {
        let claim: TokenClaim
        let returnOutcome: @Sendable (Result<ClaimOutcome, MerchantError>) -> Void
        let refuse: @Sendable (any Error) -> Void
    }

    private let queue: DatabaseQueue
    private let groups: WriteGroups<PendingClaim>

    /// The latest time of a claim in the database. A new claim with an earlier time does not change it.
    private final class NewestClaim: Sendable {
        private let state: Mutex<Timestamp?>

        init(_ time: Timestamp?) { state = Mutex(time) }

        var time: Timestamp? { state.withLock { $0 } }

        func note(_ time: Timestamp) { state.withLock { $0 = $0.map { max($0, time) } ?? time } }
    }

    private init(place: DatabaseFile.Place, queue: DatabaseQueue, newest: Timestamp?, clock: any WallClock) {
        self.queue = queue
        let newest = NewestClaim(newest)
        groups = WriteGroups(
            writer: queue, place: place, largestGroup: Self.largestGroup, longestQueue: Self.longestQueue, clock: clock
        ) { group, db in
            let limit = newest.time?.adding(.zero - Self.longestSetBack)
            let outcomes = try group.map { try ClaimRows.insert($0.claim, after: limit, in: db) }
            let won = zip(group, outcomes).filter { $0.1 == .success(.won) }.map(\.0.claim.at)
            won.max().map(newest.note)
            try Self.sweep(after: won, in: db)
            return .init(returnResults: {
                for (pending, outcome) in zip(group, outcomes) { pending.returnOutcome(outcome) }
            })
        }
    }

    /// Opens the database, and creates it if there is none.
    ///
    /// - Throws: ``MerchantError`` `storeUnavailable` for a file that other users can access, that is damaged, that
    ///   another program created, or that a newer version of this program wrote.
    package static func open(path: String, clock: any WallClock = SystemClock()) throws -> ClaimStore {
        try SQLiteErrors.translating {
            let path = path.hasPrefix("/") ? path : "./" + path
            try DatabaseFile.prepare(at: path)
            let place = try DatabaseFile.Place(of: path)
            let queue = try Connections.openClaims(path: path)
            try queue.writeWithoutTransaction { db in
                try Migrations.apply(Schema.claimsMigrations, to: db, kind: .claims, at: clock.now)
            }
            let newest = try queue.read { try ClaimRows.newest(in: $0) }
            place.rememberLog()
            return ClaimStore(place: place, queue: queue, newest: newest, clock: clock)
        }
    }

    /// Checks the claims database without changing it. Needs no running daemon.
    ///
    /// - Throws: ``MerchantError`` `storeUnavailable` for a file that is damaged, that another program created, or that
    ///   a newer version of this program wrote.
    package static func inspect(path: String) throws {
        try SQLiteErrors.translating {
            let queue = try DatabaseInspection.queue(path)
            defer { try? queue.close() }
            try queue.read { db in
                try Connections.refuseForeign(db, path: path, kind: .claims)
                try Migrations.requireKnown(Schema.claimsMigrations, in: db)
                if let first = try SQLiteStore.faults(in: db).first {
                    throw MerchantError(.storeUnavailable, "it is damaged: \(first)")
                }
            }
        }
    }

    package var health: StoreHealth { groups.health }

    /// Refuses new claims, commits the waiting ones, and closes the database.
    package func close() throws {
        groups.finish()
        try SQLiteErrors.translating { try queue.close() }
    }

    package func claim(_ claim: TokenClaim) async throws -> ClaimOutcome {
        try await withCheckedThrowingContinuation { continuation in
            groups.add(
                PendingClaim(
                    claim: claim, returnOutcome: { continuation.resume(with: $0) },
                    refuse: { continuation.resume(throwing: $0) }))
        }
    }

    package func claim(of transactionId: Words256) async throws -> TokenClaim? {
        try await SQLiteErrors.translating { try await queue.read { try ClaimRows.claim(of: transactionId, in: $0) } }
    }

    /// SQLite's settings on the connection, for tests.
    package func settings() throws -> [String: String] {
        try SQLiteErrors.translating { try queue.writeWithoutTransaction { try Connections.settings(of: $0) } }
    }

    /// Removes expired claims, oldest first, after new claims were stored.
    ///
    /// Compares with the times of the new claims and not with the clock, because a clock that is ahead would remove
    /// claims too early. The time of a claim is right within minutes, because the signing time of its token was
    /// compared with it. While the clock is ahead, no token passes that check, so there is no new claim and no claim is
    /// removed.
    private static func sweep(after won: [Timestamp], in db: Database) throws {
        guard let earliest = won.min() else { return }
        try ClaimRows.remove(
            before: earliest.adding(.zero - retention), checking: won.count * sweepPerClaim, in: db)
    }
}
