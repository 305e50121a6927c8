import MerchantCore
import MetricsKit
import StoreCore
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

/// The result of one transaction of a group.
private struct GroupedResult: Sendable {
    let returnResult: @Sendable () -> Void
    /// Whether other daemons may have a key pair in memory as it was before the transaction.
    let changesKnownKeys: Bool

    init(_ returnResult: @escaping @Sendable () -> Void, _ changes: StoreChanges) {
        self.returnResult = returnResult
        changesKnownKeys = changes.changesKnownKeys
    }
}

/// Commits the transactions of many callers in groups. Each transaction has a savepoint of its own, so that a failed
/// transaction does not undo the others of its group.
final class WriteQueue: Sendable {
    /// How many transactions one group contains at most. Other daemons wait while a group is written.
    static let largestGroup = 256

    let groups: WriteGroups<PendingWrite>
    /// Counts the audit records of committed transactions.
    let auditedActions: LabeledCounter<AuditAction>

    init(
        opener: ConnectionOpener, clock: any WallClock, observers: StoreObservers, confirmedTime: ConfirmedTime?,
        node: NodeName?, acknowledgements: ChangeAcknowledgements?
    ) {
        let auditedActions = LabeledCounter<AuditAction>()
        self.auditedActions = auditedActions
        groups = WriteGroups(
            .audited, opener: opener, limits: opener.settings.limits, largestGroup: Self.largestGroup, clock: clock
        ) { group, connection in
            var results: [GroupedResult] = []
            var changes = StoreChanges()
            let earliestEventTime = confirmedTime?.earliestEventTime
            for write in group {
                let transaction = StoreTransaction(
                    connection: connection, earliestEventTime: earliestEventTime, node: node)
                if group.count == 1 {
                    // A group of one write needs no savepoint: its failure undoes the whole transaction.
                    let returnResult = try Self.run(write, in: transaction)
                    results.append(GroupedResult(returnResult, transaction.changes))
                    changes.add(transaction.changes)
                } else {
                    results.append(
                        try Self.runInSavepoint(write, in: transaction, isFirst: results.isEmpty, noting: &changes))
                }
            }
            let number =
                acknowledgements == nil || changes.changedKeys.isEmpty
                ? nil : try KeyChangeLog.append(changes.changedKeys, on: connection)
            if acknowledgements != nil, !changes.changedKeys.isEmpty || changes.mayHaveNewEvents {
                try ChangeNotice.send(on: connection)
            }
            let (committedResults, committedChanges) = (results, changes)
            return {
                for action in committedChanges.auditedActions { auditedActions.add(action) }
                observers.notify(committedChanges)
                for result in committedResults {
                    if let acknowledgements, let number, result.changesKnownKeys {
                        acknowledgements.add(number, result.returnResult)
                    } else {
                        result.returnResult()
                    }
                }
            }
        }
    }

    private static func run(_ write: PendingWrite, in transaction: StoreTransaction) throws -> @Sendable () -> Void {
        do { return try write.run(transaction) } catch let error as PostgresError { throw error } catch {
            throw CallerError(error: error)
        }
    }

    /// Runs one transaction of the group in a savepoint. If it fails, only its own changes are undone.
    ///
    /// - Parameter isFirst: whether this transaction is the first of the group. Otherwise the method also releases the
    ///   savepoint of the previous transaction, in the same request. The commit releases the last savepoint.
    /// - Returns: a function that returns the result or the error to the caller, and whether other daemons must apply
    ///   the change before this function is called.
    /// - Throws: if the whole group must fail.
    private static func runInSavepoint(
        _ write: PendingWrite, in transaction: StoreTransaction, isFirst: Bool, noting changes: inout StoreChanges
    ) throws -> GroupedResult {
        let connection = transaction.connection
        try connection.run(isFirst ? "SAVEPOINT one_write" : "RELEASE one_write; SAVEPOINT one_write")
        do {
            let returnResult = try write.run(transaction)
            guard !connection.isTransactionFailed else { throw Connection.failedBeforeCommit }
            changes.add(transaction.changes)
            return GroupedResult(returnResult, transaction.changes)
        } catch {
            guard !connection.isLost else { throw error }
            try connection.run("ROLLBACK TO one_write")
            let error = PostgresErrors.translated(error)
            return GroupedResult({ write.refuse(error) }, StoreChanges())
        }
    }
}
