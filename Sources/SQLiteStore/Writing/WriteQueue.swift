import GRDB
import MerchantCore
import MetricsKit
import StoreCore
import Synchronization
import Vocabulary

/// A caller's transaction that waits to be written.
struct PendingWrite: GroupedWrite {
    /// Runs the caller's changes inside the group's transaction.
    ///
    /// - Returns: a function that returns the result to the caller. Call this function when the transaction is on
    ///   stable storage.
    let run: @Sendable (StoreTransaction) throws -> @Sendable () -> Void
    /// Reports an error to the caller.
    let refuse: @Sendable (any Error) -> Void
}

/// Commits the transactions of many callers in groups. Each transaction has a savepoint of its own, so that a failed
/// transaction does not undo the others of its group.
final class WriteQueue: Sendable {
    /// How many transactions one group contains at most.
    static let largestGroup = 256
    /// How many transactions can wait. Further transactions are refused with `overloaded`.
    static let longestQueue = 16384

    private let groups: WriteGroups<PendingWrite>
    /// Counts the audit records of committed transactions.
    let auditedActions: LabeledCounter<AuditAction>

    init(
        pool: DatabasePool, openedFiles: DatabaseFile.OpenedFiles, clock: any WallClock, observers: StoreObservers,
        confirmedTime: ConfirmedTime?
    ) {
        let auditedActions = LabeledCounter<AuditAction>()
        self.auditedActions = auditedActions
        groups = WriteGroups(
            of: .merchants, writer: pool, openedFiles: openedFiles, largestGroup: Self.largestGroup,
            longestQueue: Self.longestQueue, clock: clock, trialWrite: Self.trialWrite
        ) { group, db in
            var results: [@Sendable () -> Void] = []
            var changes = StoreChanges()
            var databaseError: MerchantError?
            let earliestEventTime = confirmedTime?.earliestEventTime
            for write in group {
                let transaction = StoreTransaction(db: db, earliestEventTime: earliestEventTime)
                results.append(
                    try Self.runInSavepoint(
                        write, in: transaction, noting: &changes, databaseError: &databaseError))
            }
            let (returnResults, committedChanges) = (results, changes)
            return .init(
                returnResults: {
                    for action in committedChanges.auditedActions { auditedActions.add(action) }
                    observers.notify(
                        committedChanges, logGeneration: openedFiles.logGeneration ?? "")
                    for returnResult in returnResults { returnResult() }
                }, databaseError: databaseError)
        }
    }

    var health: StoreHealth { groups.health }
    var metrics: WriteMetrics { groups.metrics }
    var waitingCount: Int { groups.waitingCount }
    func add(_ write: PendingWrite) { groups.add(write) }
    var isUnreliable: Bool { groups.isUnreliable }
    func requireWritesAccepted() throws { try groups.requireWritesAccepted() }
    func requireOriginalFiles() throws { try groups.requireOriginalFiles() }
    func writeNow(_ body: (Database) throws -> Void) throws { try groups.writeNow(body) }
    func finish() { groups.finish() }
    func fail(_ error: MerchantError) { groups.fail(error) }
    func translatedAndRecorded(_ error: any Error) -> any Error { groups.translatedAndRecorded(error) }

    /// The size of the trial write in bytes: more than most transactions write.
    private static let trialSize = 64 * 1024

    /// Writes a long text, and then replaces it with an empty text, to find out whether the disk has space.
    private static func trialWrite(_ db: Database) throws {
        for text in [String(repeating: "-", count: trialSize), ""] {
            try db.inTransaction(.immediate) {
                try StoreTransaction(db: db).setDaemonValue("trialWrite", text)
                return .commit
            }
        }
    }

    /// Runs one transaction of the group in a savepoint. If it fails, only its own changes are undone.
    ///
    /// - Parameter databaseError: set if the transaction failed because of an error of the database.
    /// - Returns: a function that returns the result or the error to the caller.
    /// - Throws: if the whole group must fail.
    private static func runInSavepoint(
        _ write: PendingWrite, in transaction: StoreTransaction, noting changes: inout StoreChanges,
        databaseError: inout MerchantError?
    ) throws -> @Sendable () -> Void {
        let db = transaction.db
        try db.execute(sql: "SAVEPOINT one_write")
        do {
            let returnResult = try write.run(transaction)
            try db.execute(sql: "RELEASE one_write")
            changes.add(transaction.changes)
            return returnResult
        } catch {
            // The whole group fails in two cases. First, SQLite has rolled back the group's transaction, as SQLite does
            // after some errors. Second, the storage failed, so that a rollback to the savepoint is not reliable.
            guard db.isInsideTransaction, !SQLiteErrors.isStorageFailure(error) else { throw error }
            try db.execute(sql: "ROLLBACK TO one_write; RELEASE one_write")
            let isFromDatabase = error is DatabaseError
            let error = SQLiteErrors.translated(error)
            if isFromDatabase { databaseError = error as? MerchantError }
            return { write.refuse(error) }
        }
    }
}
