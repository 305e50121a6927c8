import FoundationEssentials
import GRDB
package import MerchantCore
import Schema
import Synchronization
package import Vocabulary

/// Claims of payment tokens in an SQLite file of their own, so that they and the key store never wait for each other.
///
/// One connection. A claim is answered once it is on stable storage: write-ahead log, `synchronous = FULL`, many claims a
/// commit. What makes one of many win is a unique index.
package final class ClaimStore: ClaimLedger, Sendable {
    /// How long a claim is kept at least: six times what replays need (twice the time window of five minutes), so that a
    /// repeat of a request is still known after a long outage of its client.
    package static let retention = Duration.seconds(3600)
    /// A clock that is further behind the newest claim was set back: tokens that it lets pass are of a time whose claims may
    /// have been removed. More than two time windows, so that no token that Apple signs now is refused; at least two windows
    /// less than ``retention``, so that every token whose claim was removed is.
    package static let longestSetBack = Duration.seconds(1800)
    /// How many expired claims a new one takes with it at most: so the file shrinks, and no commit is long.
    package static let sweepPerClaim = 2
    static let largestGroup = 512
    static let longestQueue = 16384

    /// A claim that waits for its commit.
    struct PendingClaim: GroupedWrite {
        let claim: TokenClaim
        let answer: @Sendable (Result<ClaimOutcome, MerchantError>) -> Void
        let refuse: @Sendable (any Error) -> Void
    }

    private let queue: DatabaseQueue
    private let groups: WriteGroups<PendingClaim>

    /// The time of the newest claim. It is never before that of a claim that removed others.
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
            let forgotten = newest.time?.adding(.zero - Self.longestSetBack)
            let outcomes = try group.map { try ClaimRows.enter($0.claim, forgotten: forgotten, in: db) }
            let won = zip(group, outcomes).filter { $0.1 == .success(.won) }.map(\.0.claim.at)
            won.max().map(newest.note)
            try Self.sweep(after: won, in: db)
            return .init(answer: { for (pending, outcome) in zip(group, outcomes) { pending.answer(outcome) } })
        }
    }

    /// Opens the file, or makes it where there is none.
    ///
    /// - Throws: ``MerchantError`` `storeUnavailable` for a file that others may use, that is damaged, not ours, or
    ///   written by a newer program.
    package static func open(path: String, clock: any WallClock = SystemClock()) throws -> ClaimStore {
        try StoreFailure.translating {
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
    /// - Throws: ``MerchantError`` `storeUnavailable` for one that is damaged, not ours, or written by a newer program.
    package static func inspect(path: String) throws {
        try StoreFailure.translating {
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
        try StoreFailure.translating { try queue.close() }
    }

    package func claim(_ claim: TokenClaim) async throws -> ClaimOutcome {
        try await withCheckedThrowingContinuation { continuation in
            groups.add(
                PendingClaim(
                    claim: claim, answer: { continuation.resume(with: $0) },
                    refuse: { continuation.resume(throwing: $0) }))
        }
    }

    package func claim(of transactionId: Words256) async throws -> TokenClaim? {
        try await StoreFailure.translating { try await queue.read { try ClaimRows.claim(of: transactionId, in: $0) } }
    }

    /// SQLite's settings in force, by their names: for diagnosis.
    package func settings() throws -> [String: String] {
        try StoreFailure.translating { try queue.writeWithoutTransaction { try Connections.settings(of: $0) } }
    }

    /// Removes expired claims, oldest first.
    ///
    /// Only ever together with new claims, and judged by theirs: each was made for a token that Apple signed within
    /// minutes of that time. A clock that runs ahead has no token verified, and so removes no claim.
    private static func sweep(after won: [Timestamp], in db: Database) throws {
        guard let earliest = won.min() else { return }
        try ClaimRows.remove(
            before: earliest.adding(.zero - retention), checking: won.count * sweepPerClaim, in: db)
    }
}
