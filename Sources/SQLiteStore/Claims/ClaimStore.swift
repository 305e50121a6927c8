import FoundationEssentials
import GRDB
package import MerchantCore
import Schema
import StoreCore
package import Vocabulary

/// Stores claims of payment tokens, and of nonces of in-app provisioning. A claim is the record that a token or a nonce
/// was used, so that a second use is refused. The claims have an SQLite database of their own, so that claims and
/// changes of keys do not delay each other.
///
/// ``claim(_:)`` returns when the claim is on stable storage: the database has a write-ahead log, and the setting
/// `synchronous = FULL` syncs the log at each commit. One commit stores many claims. If several different requests
/// claim the same payment, a unique index ensures that exactly one of them succeeds.
package final class ClaimStore: ClaimLedger, NonceLedger, Sendable {
    /// How many claims one commit stores at most.
    static let largestGroup = 512
    /// How many claims can wait for their commit. Further claims are refused with `overloaded`.
    static let longestQueue = 16384
    /// What an operator must do to remove all claims.
    package static let removal =
        "stop the daemon with its socket units, move claims.sqlite with its -wal and -shm out of the state directory, and start the daemon"

    private let path: String
    private let queue: DatabaseQueue
    private let groups: WriteGroups<PendingClaim>
    private let newestClaimTime: NewestClaimTime
    private let clock: any WallClock
    /// The newest claim when the file was opened; nil if there was no claim.
    package let newestClaimWhenOpened: ClaimMark?
    /// Whether the write-ahead log had content before the file was opened. If not, the file contains every claim that
    /// was stored before.
    package let hadLogWhenOpened: Bool

    private init(
        openedFiles: DatabaseFile.OpenedFiles, queue: DatabaseQueue, latestTime: Timestamp?, newestClaim: ClaimMark?,
        hadLog: Bool, clock: any WallClock, observer: (any ClaimsObserver)?
    ) {
        newestClaimWhenOpened = newestClaim
        hadLogWhenOpened = hadLog
        path = openedFiles.path
        self.queue = queue
        self.clock = clock
        let newestClaimTime = NewestClaimTime(latestTime, removal: Self.removal)
        self.newestClaimTime = newestClaimTime
        groups = WriteGroups(
            of: .claims, writer: queue, openedFiles: openedFiles, largestGroup: Self.largestGroup,
            longestQueue: Self.longestQueue, clock: clock, trialWrite: Self.trialWrite
        ) { group, db in
            let limit = newestClaimTime.limit
            var claims = ClaimGroup()
            var newest: ClaimMark?
            for pending in group {
                try claims.add(
                    pending, insertToken: { try ClaimRows.insert($0, after: limit, newest: &newest, in: db) },
                    insertNonce: { try NonceRows.insert($0, in: db) })
            }
            claims.tokenTimes.max().map(newestClaimTime.advance)
            if let expired = ClaimRules.expired(after: ClaimRules.retention, whenStoring: claims.tokenTimes) {
                try ClaimRows.remove(before: expired.before, amongOldest: expired.amongOldest, in: db)
            }
            if let expired = ClaimRules.expired(after: ClaimRules.nonceRetention, whenStoring: claims.nonceTimes) {
                try NonceRows.remove(before: expired.before, amongOldest: expired.amongOldest, in: db)
            }
            guard let observer, let newest else { return .init(returnResults: claims.returnResults) }
            return .init(returnResults: { [claims] in
                observer.claimsGrew(to: newest, inLog: openedFiles.logGeneration ?? "")
                claims.returnResults()
            })
        }
    }

    /// The size of the trial write in bytes: more than a group of claims writes.
    private static let trialSize = 1 << 20

    /// Writes many bytes and removes them in the same transaction, to find out whether the disk has space.
    private static func trialWrite(_ db: Database) throws {
        try db.inTransaction(.immediate) {
            try db.execute(sql: "CREATE TABLE trial (bytes BLOB NOT NULL)")
            try db.execute(sql: "INSERT INTO trial VALUES (zeroblob(\(trialSize)))")
            try db.execute(sql: "DROP TABLE trial")
            return .commit
        }
    }

    /// Opens the database, and creates it if there is none.
    ///
    /// - Parameter observer: is notified of new claims.
    /// - Throws: ``MerchantError`` `storeUnavailable` for a file that other users can access, that is damaged, that
    ///   another program created, or that a newer version of this program wrote, and if the file is missing or empty
    ///   although its write-ahead log has content.
    package static func open(
        path: String, clock: any WallClock = SystemClock(), observer: (any ClaimsObserver)? = nil
    ) throws -> ClaimStore {
        try SQLiteErrors.translating(of: .claims, at: path) {
            // SQLite gives names such as ":memory:" a special meaning, but not paths that begin with "./".
            let path = path.hasPrefix("/") ? path : "./" + path
            try DatabaseFile.createOrCheck(at: path)
            let openedFiles = try DatabaseFile.OpenedFiles(of: path)
            let hadLog = DatabaseFile.logGeneration(of: path) != nil
            let queue = try Connections.openClaims(path: path)
            try queue.writeWithoutTransaction { db in
                try Migrations.apply(Schema.claimsMigrations, to: db, kind: .claims, at: clock.now)
            }
            let (latestTime, newestClaim) = try queue.read {
                (try ClaimRows.latestTime(in: $0), try ClaimRows.newest(in: $0))
            }
            // By now SQLite has created the write-ahead log.
            openedFiles.recordWriteAheadLogIdentity()
            return ClaimStore(
                openedFiles: openedFiles, queue: queue, latestTime: latestTime, newestClaim: newestClaim,
                hadLog: hadLog, clock: clock, observer: observer)
        }
    }

    /// Whether a claims database lacks a claim that was not removed by age. Reads the database without changing it,
    /// whether the daemon runs or not.
    ///
    /// - Throws: if the database cannot be read.
    package static func lacks(_ claim: ClaimMark, inFile path: String) throws -> Bool {
        try SQLiteErrors.translating(of: .claims, at: path) {
            let queue = try DatabaseInspection.openReadOnly(path)
            defer { try? queue.close() }
            return try queue.read { try ClaimRows.lacks(claim, in: $0) }
        }
    }

    /// Whether a claims database's file, read without its write-ahead log, is intact and lacks a claim that was not
    /// removed by age. No program may write to the database meanwhile. False if the file cannot be read.
    package static func lacks(_ claim: ClaimMark, inFileAlone path: String) -> Bool {
        let isLacking = try? DatabaseInspection.openReadOnly(path, ignoringLog: true).read { db in
            // After an interrupted checkpoint, a query may miss a claim that is in the file.
            try ClaimRows.lacks(claim, in: db) && SQLiteStore.faults(in: db, byCheck: "integrity_check").isEmpty
        }
        return isLacking ?? false
    }

    /// Whether the open database lacks a claim that was not removed by age.
    package func lacks(_ claim: ClaimMark) throws -> Bool { try queue.read { try ClaimRows.lacks(claim, in: $0) } }

    /// Checks the claims database without changing it, whether the daemon runs or not.
    ///
    /// - Parameter wholeContent: whether to read the whole file and search it for damage.
    /// - Throws: ``MerchantError`` `storeUnavailable` for a file that the daemon cannot write, that other users can
    ///   access, that is damaged, that another program created, or that a newer version of this program wrote, and if
    ///   the file is missing or empty although its write-ahead log has content.
    package static func inspect(path: String, wholeContent: Bool) throws {
        try SQLiteErrors.translating(of: .claims, at: path) {
            try DatabaseInspection.requireUsableFiles(at: path, of: .claims)
            try DatabaseFile.refuseLogWithoutFile(at: path)
            let queue = try DatabaseInspection.openReadOnly(path)
            defer { try? queue.close() }
            try queue.read { db in
                try Connections.refuseForeignDatabase(db, path: path, kind: .claims)
                try Migrations.requireKnownMigrations(Schema.claimsMigrations, in: db)
                if wholeContent, let first = try SQLiteStore.faults(in: db).first {
                    throw MerchantError(
                        .storeUnavailable,
                        "the claims database \(path) is damaged: \(first): \(DatabaseKind.claims.repair)")
                }
            }
        }
    }

    /// Identifies the content of the write-ahead log until SQLite overwrites it from its beginning; nil if the log is
    /// empty.
    package var logGeneration: String? { DatabaseFile.logGeneration(of: path) }

    package var health: StoreHealth { groups.health }
    package func retryIfImpaired() { groups.retryIfImpaired() }
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
        try await PendingClaim.claim(claim) { groups.add($0) }
    }

    package func claim(of transactionId: Bits256) async throws -> TokenClaim? {
        try await SQLiteErrors.translating(of: .claims) {
            try await queue.read { try ClaimRows.claim(of: transactionId, in: $0) }
        }
    }

    package func claimNonce(_ claim: NonceClaim) async throws {
        try await PendingClaim.claimNonce(claim) { groups.add($0) }
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
}
