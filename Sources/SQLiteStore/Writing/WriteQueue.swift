import GRDB
import MerchantCore
import Synchronization
import Vocabulary

/// A caller's transaction that waits to be written.
struct PendingWrite: GroupedWrite {
    /// Runs the caller's changes inside the group's transaction.
    ///
    /// - Returns: a function that returns the result to the caller. It must be called when the transaction is on stable
    ///   storage.
    let run: @Sendable (StoreTransaction) throws -> @Sendable () -> Void
    let refuse: @Sendable (any Error) -> Void
}

/// Commits the transactions of many callers in groups. Each has a savepoint of its own, so that one that fails does not
/// undo the others.
final class WriteQueue: Sendable {
    /// The most transactions in one group.
    static let largestGroup = 256
    /// The most transactions that wait. Further ones are refused with `overloaded`.
    static let longestQueue = 16384

    /// The changes of a group, of which observers are notified after its commit.
    fileprivate struct Changes {
        var keys: Set<PublicKeyHash> = []
        var events = false
        var auditHead: AuditHead?

        mutating func add(_ transaction: StoreTransaction) {
            keys.formUnion(transaction.changedKeys)
            events = events || transaction.changedEvents
            auditHead = transaction.auditHead ?? auditHead
        }
    }

    private let groups: WriteGroups<PendingWrite>

    init(
        pool: DatabasePool, place: DatabaseFile.Place, clock: any WallClock, observers: StoreObservers,
        confirmedTime: ConfirmedTime?
    ) {
        groups = WriteGroups(
            writer: pool, place: place, largestGroup: Self.largestGroup, longestQueue: Self.longestQueue, clock: clock,
            trial: Self.writeTrial
        ) { group, db in
            var results: [@Sendable () -> Void] = []
            var changes = Changes()
            var impairment: MerchantError?
            let earliestEventTime = confirmedTime.flatMap(Self.earliestEventTime)
            for write in group {
                let transaction = StoreTransaction(db: db, earliestEventTime: earliestEventTime)
                results.append(try Self.attempt(write, in: transaction, noting: &changes, impairment: &impairment))
            }
            let (ready, committed) = (results, changes)
            return .init(
                returnResults: {
                    observers.notify(committed, of: place)
                    for returnResult in ready { returnResult() }
                }, impairment: impairment)
        }
    }

    var health: StoreHealth { groups.health }
    func add(_ write: PendingWrite) { groups.add(write) }
    var isUnreliable: Bool { groups.isUnreliable }
    func requireReady() throws { try groups.requireReady() }
    func requireInPlace() throws { try groups.requireInPlace() }
    func writeNow(_ body: (Database) throws -> Void) throws { try groups.writeNow(body) }
    func finish() { groups.finish() }
    func fail(_ error: MerchantError) { groups.fail(error) }
    func handled(_ error: any Error) -> any Error { groups.handled(error) }

    /// In bytes: more than any one transaction writes.
    private static let trialSize = 64 * 1024

    private static func writeTrial(_ db: Database) throws {
        for text in [String(repeating: "-", count: trialSize), ""] {
            try db.inTransaction(.immediate) {
                try StoreTransaction(db: db).setDaemonFact("trialWrite", text)
                return .commit
            }
        }
    }

    /// The earliest time that an event may have; nil unless the machine's clock is set back.
    private static func earliestEventTime(by confirmedTime: ConfirmedTime) -> Timestamp? {
        let time = confirmedTime.reading()
        return time.setBack > ConfirmedTime.tolerance ? time.latest : nil
    }

    /// Runs one transaction of the group in a savepoint. If it fails, only its own changes are undone.
    ///
    /// - Returns: a function that returns the result or the error to the caller.
    /// - Throws: if the whole group must fail.
    private static func attempt(
        _ write: PendingWrite, in transaction: StoreTransaction, noting changes: inout Changes,
        impairment: inout MerchantError?
    ) throws -> @Sendable () -> Void {
        let db = transaction.db
        try db.execute(sql: "SAVEPOINT one_write")
        do {
            let returnResult = try write.run(transaction)
            try db.execute(sql: "RELEASE one_write")
            changes.add(transaction)
            return returnResult
        } catch {
            // The whole group fails in two cases: SQLite has rolled back the group's transaction, as it does after some
            // errors, or the storage fails, so that a rollback to the savepoint is not reliable.
            guard db.isInsideTransaction, !SQLiteErrors.isStorageFailure(error) else { throw error }
            try db.execute(sql: "ROLLBACK TO one_write; RELEASE one_write")
            let isFromDatabase = error is DatabaseError
            let error = SQLiteErrors.translated(error)
            if isFromDatabase { impairment = error as? MerchantError }
            return { write.refuse(error) }
        }
    }
}

extension StoreObservers {
    fileprivate func notify(_ changes: WriteQueue.Changes, of place: DatabaseFile.Place) {
        if let head = changes.auditHead, let audit {
            audit.auditGrew(to: head, inLog: DatabaseFile.logGeneration(of: place.path) ?? "")
        }
        if !changes.keys.isEmpty {
            let hashes = Array(changes.keys)
            for observer in keys { observer.keysChanged(hashes) }
        }
        if changes.events { events?.eventsChanged() }
    }
}
