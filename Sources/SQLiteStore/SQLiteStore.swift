import CSQLite
import FoundationEssentials
import GRDB
package import MerchantCore
import Schema
import Synchronization
import Vocabulary

/// Merchants, key pairs, certificates and audit in one SQLite file.
///
/// One connection writes, a few read. Whatever ``write(_:)`` returned from is on stable storage: write-ahead log,
/// `synchronous = FULL`. One process opens the file at a time; holding others off is the caller's part.
package final class SQLiteStore: MerchantRepository, Sendable {
    /// The database's file; its write-ahead log and shared memory lie beside it.
    package let path: String
    private let place: DatabaseFile.Place
    let pool: DatabasePool
    let queue: WriteQueue
    /// Whether the write-ahead log may hold erased bytes. At the start nobody knows: the last process may have been killed
    /// between a destruction and its erasure.
    let erasureIsDue = Atomic(true)

    private init(place: DatabaseFile.Place, pool: DatabasePool, clock: any WallClock) {
        self.place = place
        path = place.path
        self.pool = pool
        queue = WriteQueue(pool: pool, place: place, clock: clock)
    }

    /// Opens the database, or makes it where there is none, and brings its schema up to date.
    ///
    /// - Parameters:
    ///   - clock: tells when a migration was applied.
    ///   - trace: receives the text of each statement, without its values, on the thread that runs it.
    ///   - migrations: the schema; tests pass their own.
    /// - Throws: ``MerchantError`` `storeUnavailable` for a file that others may read or write, that is not ours, or that a
    ///   newer program wrote; the file is not changed then.
    package static func open(
        path: String, clock: any WallClock = SystemClock(), trace: (@Sendable (String) -> Void)? = nil,
        migrations: [(name: String, sql: String)] = Schema.migrations
    ) throws -> SQLiteStore {
        try StoreFailure.translating {
            // A leading "./" keeps SQLite from reading a meaning into a name such as ":memory:".
            let path = path.hasPrefix("/") ? path : "./" + path
            try DatabaseFile.prepare(at: path)
            let place = try DatabaseFile.Place(of: path)
            let pool = try Connections.open(place, trace: trace)
            try pool.writeWithoutTransaction { db in
                try Migrations.apply(migrations, to: db, kind: .merchants, at: clock.now)
            }
            place.rememberLog()
            return SQLiteStore(place: place, pool: pool, clock: clock)
        }
    }

    /// Names who is told of changed key pairs. Once, before the store is shared: whoever is told may need the store to be made.
    package func setObservers(_ observers: [any KeyChangeObserver]) { queue.setObservers(observers) }

    /// Names who is told that there may be events to list or to deliver. Once, before the store is shared.
    package func setEventObserver(_ observer: any EventObserver) { queue.setEventObserver(observer) }

    /// Names who is told where the audit ends. Once, before the store is shared.
    package func setAuditObserver(_ observer: any AuditObserver) { queue.setAuditObserver(observer) }

    /// Names what events' times are compared with. Once, before the store is shared.
    package func setConfirmedTime(_ time: ConfirmedTime) { queue.setConfirmedTime(time) }

    /// Whether writes are taken, and if not, why.
    package var health: StoreHealth { queue.health }

    /// Looks where the database's files are, and takes no more changes where they are not in their places.
    ///
    /// - Returns: the inode of the file that was opened, where its name leads to another or to none: what lies in the
    ///   write-ahead log belongs to that file alone.
    package func look() -> UInt64? {
        try? queue.requireInPlace()
        return place.replaced
    }

    /// Finishes what was asked, refuses everything after, and closes the file.
    package func close() throws {
        queue.finish()
        carryLogOver()
        if queue.isUnreliable {
            // What a failed sync left of the log in memory may be other than what is on the disk: only the next start, which
            // holds each frame against its checksum, carries it into the database.
            pool.writeWithoutTransaction { db in
                if let connection = db.sqliteConnection { _ = csqlite_leave_log(connection) }
            }
        } else {
            // Whoever closes last removes the log, which a reader cannot. GRDB closes the connection that writes first.
            pool.invalidateReadOnlyConnections()
        }
        try StoreFailure.translating { try pool.close() }
    }

    /// Leaves nothing in the write-ahead log once nobody reads; not left to closing, where a reader that a thread has yet to let
    /// go of may be last. Where another program reads, or the disk is full, the log keeps its content. A log whose name was
    /// taken from it is gone with the process.
    private func carryLogOver() {
        guard place.replaced == nil, !queue.isUnreliable else { return }
        do { try pool.barrierWriteWithoutTransaction { _ = try Self.emptyLog($0) } } catch { _ = queue.judged(error) }
    }

    /// SQLite's settings in force on the connection that writes, by their names: for diagnosis.
    package func settings() throws -> [String: String] {
        try queue.requireReady()
        return try StoreFailure.translating { try pool.writeWithoutTransaction { try Connections.settings(of: $0) } }
    }

    /// Looks through the whole file for damage, and stops all writing where there is some. Takes time in proportion to the
    /// file's size; writes go on meanwhile.
    ///
    /// - Returns: what was found; empty for a sound database.
    package func examine() async throws -> [String] {
        let found = try await quickCheck()
        if let first = found.first {
            queue.fail(
                MerchantError(.storeUnavailable, "\(StoreFailure.damaged): \(first)"))
        }
        return found
    }

    /// As ``examine()``, and leaves it at looking.
    package func quickCheck() async throws -> [String] {
        do { return try await readTables { try Self.damage(in: $0) } } catch  where StoreFailure.isDamage(error) {
            // The look itself stumbles where a whole tree of pages cannot be read.
            return [(StoreFailure.translated(error) as? MerchantError)?.detail ?? "\(error)"]
        } catch { throw StoreFailure.translated(error) }
    }

    /// - Parameter check: `integrity_check` holds indexes against their tables too, which takes several times as long.
    static func damage(in db: Database, byCheck check: String = "quick_check") throws -> [String] {
        try String.fetchAll(db, sql: "PRAGMA \(check)").filter { $0 != "ok" }
            + Row.fetchAll(db, sql: "PRAGMA foreign_key_check").map {
                "a row of \($0["table"] as String? ?? "?") refers to none of \($0["parent"] as String? ?? "?")"
            }
    }
}

// MARK: - Reading and writing

extension SQLiteStore {
    package func read<Result: Sendable>(
        _ body: @escaping @Sendable (any MerchantReading) throws -> Result
    ) async throws -> Result {
        do { return try await readTables { try body(StoreReader(db: $0)) } } catch { throw noted(error) }
    }

    /// A reader is held on a thread of the pool's, from beginning to end. GRDB's own `read` that waits holds one across
    /// a suspension: with every task's thread in ``readNow(_:)``, waiting for a reader, none would ever come back.
    func readTables<Result: Sendable>(_ body: @escaping @Sendable (Database) throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            pool.asyncRead { db in continuation.resume(with: Swift.Result { try body(try db.get()) }) }
        }
    }

    package func readNow<Result>(_ body: (any MerchantReading) throws -> Result) throws -> Result {
        do { return try pool.read { try body(StoreReader(db: $0)) } } catch { throw noted(error) }
    }

    /// What a read met, in the domain's words. Damage stops all writing: it would spread it.
    func noted(_ error: any Error) -> any Error {
        StoreFailure.isDamage(error) ? queue.judged(error) : StoreFailure.translated(error)
    }

    /// A write that was begun is not taken back when its task is cancelled.
    package func write<Result: Sendable>(
        _ body: @escaping @Sendable (any MerchantTransaction) throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            queue.add(
                PendingWrite(
                    run: { transaction in
                        let result = try body(transaction)
                        return { continuation.resume(returning: result) }
                    },
                    refuse: { continuation.resume(throwing: $0) }))
        }
    }
}
