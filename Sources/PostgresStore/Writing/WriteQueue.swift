import MerchantCore
import MetricsKit
import StoreCore
import Vocabulary

/// A caller's transaction that waits to be written.
struct PendingWrite: GroupedWrite {
    /// Runs the caller's changes inside the group's transaction.
    ///
    /// - Returns: a function that sends the result to the caller. Call this function when the transaction is on
    ///   stable storage.
    let run: @Sendable (StoreTransaction) throws -> @Sendable () -> Void
    /// Reports an error to the caller.
    let refuse: @Sendable (any Error) -> Void
}

/// The result of one transaction of a group.
private struct GroupedResult: Sendable {
    /// Sends the result or the error to the caller.
    let respond: @Sendable () -> Void
    /// nil if the transaction failed.
    let changes: StoreChanges?

    init(_ respond: @escaping @Sendable () -> Void, _ changes: StoreChanges?) {
        self.respond = respond
        self.changes = changes
    }

    /// Whether the transaction changed a key pair that other daemons may have in memory. If so, the response waits
    /// until they have applied the change.
    var changesKnownKeys: Bool { changes?.changesKnownKeys ?? false }
}

/// Commits the transactions of many callers in groups. In a group of several, each transaction has a savepoint of its
/// own, so that a failed transaction does not undo the others.
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
        ) { group, groupTransaction in
            let connection = groupTransaction.connection
            var results: [GroupedResult] = []
            var changes = StoreChanges()
            let earliestEventTime = confirmedTime?.earliestEventTime
            // A group of one write needs no savepoint: its failure undoes the whole transaction.
            let needsSavepoint = group.count > 1
            if needsSavepoint { try connection.run("SAVEPOINT one_write") }
            for write in group {
                let transaction = StoreTransaction(
                    connection: connection, auditHead: changes.auditHead ?? groupTransaction.auditHead,
                    earliestEventTime: earliestEventTime, node: node)
                let result =
                    needsSavepoint
                    ? try Self.runInSavepoint(write, in: transaction)
                    : GroupedResult(try Self.run(write, in: transaction), transaction.changes)
                results.append(result)
                if let made = result.changes { changes.add(made) }
            }
            if acknowledgements != nil, !changes.changedKeys.isEmpty || changes.mayHaveNewEvents {
                try ChangeNotice.send(on: connection)
            }
            let changeNumber =
                acknowledgements == nil || changes.changedKeys.isEmpty
                ? nil : try KeyChangeLog.append(changes.changedKeys, on: connection)
            let (committedResults, committedChanges) = (results, changes)
            return {
                for action in committedChanges.auditedActions { auditedActions.add(action) }
                observers.notify(committedChanges)
                for result in committedResults {
                    if let acknowledgements, let changeNumber, result.changesKnownKeys {
                        acknowledgements.add(changeNumber, result.respond)
                    } else {
                        result.respond()
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

    /// Runs one transaction of the group after the savepoint `one_write`. If it fails, only its own changes are undone.
    /// Otherwise sets the savepoint again, for the next transaction.
    ///
    /// - Returns: the changes of the transaction, and a function that sends the result or the error to the caller.
    /// - Throws: if the whole group must fail.
    private static func runInSavepoint(_ write: PendingWrite, in transaction: StoreTransaction) throws -> GroupedResult
    {
        let connection = transaction.connection
        do {
            let respond = try write.run(transaction)
            guard !connection.isTransactionFailed else { throw Connection.failedBeforeCommit }
            try connection.sendLater("RELEASE one_write")
            try connection.sendLater("SAVEPOINT one_write")
            try connection.sendUnsent()
            return GroupedResult(respond, transaction.changes)
        } catch {
            guard !connection.isLost else { throw error }
            try connection.rollBack(to: "one_write")
            let error = PostgresErrors.translated(error)
            return GroupedResult({ write.refuse(error) }, nil)
        }
    }
}
