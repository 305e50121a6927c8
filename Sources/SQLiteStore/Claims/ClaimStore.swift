import FoundationEssentials
import GRDB
package import MerchantCore
import Schema
import Synchronization
package import Vocabulary

/// Claims of payment tokens, in an SQLite file of their own, so that claims and changes of keys do not delay each other.
///
/// It has one connection. ``claim(_:)`` returns when the claim is on stable storage: write-ahead log, `synchronous = FULL`, many
/// claims in one commit. A unique index ensures that one of several claims of a payment wins.
package final class ClaimStore: ClaimLedger, Sendable {
    /// How long a claim is kept at least. To refuse replays, ten minutes would suffice: twice the time window of five minutes.
    /// Six times as long lets a client repeat a request after an outage.
    package static let retention = Duration.seconds(3600)
    /// A clock that is behind the newest claim by this much was set back. It would accept tokens whose claims may have been
    /// removed, so they are refused. The limit is longer than two time windows, so that no token that Apple signs now is refused,
    /// and at least two windows shorter than ``retention``, so that every token whose claim was removed is refused.
    package static let longestSetBack = Duration.seconds(1800)
    /// The most expired claims that are removed for each new one. More than one lets the table shrink; few keep commits short.
    package static let sweepPerClaim = 2
    static let largestGroup = 512
    static let longestQueue = 16384

    /// A claim that waits for its commit.
    struct PendingClaim: GroupedWrite {
        let claim: TokenClaim
        let returnOutcome: @Sendable (Result<ClaimOutcome, MerchantError>) -> Void
        let refuse: @Sendable (any Error) -> Void
    }

    private let queue: DatabaseQueue
    private let groups: WriteGroups<PendingClaim>

    /// The time of the newest claim, which never decreases.
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

    /// Opens the file, and creates it if there is none.
    ///
    /// - Throws: ``MerchantError`` `storeUnavailable` for a file that other users can access, that is damaged, that another
    ///   program created, or that a newer version wrote.
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

    /// Checks the file without changing it, for use while no daemon runs or when it refuses claims.
    ///
    /// - Throws: ``MerchantError`` `storeUnavailable` for a file that is damaged, that another program created, or that a newer
    ///   version wrote.
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

    /// Finishes the waiting writes, refuses further ones, and closes the file.
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

    /// Removes expired claims, oldest first.
    ///
    /// It runs only with new claims and takes the time from them, not from the clock: Apple signed each of their tokens within
    /// minutes of that time. While the clock is ahead, no token passes verification, so no claim is removed.
    private static func sweep(after won: [Timestamp], in db: Database) throws {
        guard let earliest = won.min() else { return }
        try ClaimRows.remove(
            before: earliest.adding(.zero - retention), checking: won.count * sweepPerClaim, in: db)
    }
}
