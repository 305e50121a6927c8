import GRDB
import MerchantCore
import Synchronization
import Vocabulary

/// A caller's change on its way into the database.
struct PendingWrite: Sendable {
    /// Makes the change inside a transaction.
    ///
    /// - Returns: what answers the caller, once the transaction is on stable storage.
    let run: @Sendable (StoreTransaction) throws -> @Sendable () -> Void
    /// Answers the caller that nothing was changed.
    let refuse: @Sendable (any Error) -> Void
}

/// Puts the changes of many callers into few transactions: a sync costs as much for one as for hundreds.
///
/// While one group is written and synced the next gathers. Each change has a savepoint of its own and fails alone; none is
/// answered, not even refused, before its group's commit, because it may have seen what others of the group changed.
final class WriteQueue: Sendable {
    static let largestGroup = 256
    static let longestQueue = 16384

    private struct State {
        var waiting: [PendingWrite] = []
        /// Whether a group is being written or will be.
        var isBusy = false
        var observers: [any KeyChangeObserver] = []
        var eventObserver: (any EventObserver)?
        /// Why nothing new is taken.
        var refusal: MerchantError?
        /// Why nothing that waits is written either.
        var failure: MerchantError?
    }

    private let pool: DatabasePool
    private let state = Mutex(State())

    init(pool: DatabasePool) { self.pool = pool }

    func setObservers(_ observers: [any KeyChangeObserver]) { state.withLock { $0.observers = observers } }

    func setEventObserver(_ observer: any EventObserver) { state.withLock { $0.eventObserver = observer } }

    var health: StoreHealth {
        state.withLock { state in (state.failure ?? state.refusal).map { .failed($0) } ?? .ready }
    }

    func add(_ write: PendingWrite) {
        let (refusal, begins) = state.withLock { state -> (MerchantError?, Bool) in
            if let refusal = state.failure ?? state.refusal { return (refusal, false) }
            guard state.waiting.count < Self.longestQueue else {
                return (MerchantError(.overloaded, "\(Self.longestQueue) changes wait to be stored: try again"), false)
            }
            state.waiting.append(write)
            defer { state.isBusy = true }
            return (nil, !state.isBusy)
        }
        if let refusal { write.refuse(refusal) }
        if begins { scheduleNextGroup() }
    }

    /// - Throws: why nothing is taken any more.
    func requireReady() throws {
        if let refusal = state.withLock({ $0.failure ?? $0.refusal }) { throw refusal }
    }

    /// Commits one change alone, on the calling thread.
    func writeNow(_ body: (Database) throws -> Void) throws {
        try requireReady()
        do {
            try pool.writeWithoutTransaction { db in
                try db.inTransaction(.immediate) {
                    try body(db)
                    return .commit
                }
            }
        } catch { throw judged(error) }
    }

    /// Writes what waits, takes nothing new, and returns when it is done.
    func finish() {
        state.withLock { $0.refusal = $0.refusal ?? MerchantError(.storeUnavailable, "the store is closed") }
        repeat { pool.writeWithoutTransaction { _ in } } while state.withLock { $0.isBusy }
    }
}

// MARK: - On the connection that writes

extension WriteQueue {
    private func scheduleNextGroup() {
        pool.asyncWriteWithoutTransaction { db in
            let (group, failure) = self.state.withLock { state in
                let group = Array(state.waiting.prefix(Self.largestGroup))
                state.waiting.removeFirst(group.count)
                return (group, state.failure)
            }
            if let failure { group.forEach { $0.refuse(failure) } } else { self.commit(group, on: db) }
            let continues = self.state.withLock { state in
                state.isBusy = !state.waiting.isEmpty
                return state.isBusy
            }
            if continues { self.scheduleNextGroup() }
        }
    }

    private func commit(_ group: [PendingWrite], on db: Database) {
        var answers: [@Sendable () -> Void] = []
        var changed: Set<PublicKeyHash> = []
        var changedEvents = false
        do {
            try db.inTransaction(.immediate) {
                for write in group {
                    answers.append(try attempt(write, on: db, changing: &changed, events: &changedEvents))
                }
                return .commit
            }
        } catch {
            let error = judged(error)
            for write in group { write.refuse(error) }
            return
        }
        if !changed.isEmpty {
            let hashes = Array(changed)
            for observer in state.withLock({ $0.observers }) { observer.keysChanged(hashes) }
        }
        if changedEvents { state.withLock { $0.eventObserver }?.eventsChanged() }
        for answer in answers { answer() }
    }

    /// Makes one change; a change that fails is undone alone.
    ///
    /// - Returns: what answers its caller.
    /// - Throws: where the whole group is lost.
    private func attempt(
        _ write: PendingWrite, on db: Database, changing changed: inout Set<PublicKeyHash>, events: inout Bool
    ) throws -> @Sendable () -> Void {
        let transaction = StoreTransaction(db: db)
        try db.execute(sql: "SAVEPOINT one_write")
        do {
            let answer = try write.run(transaction)
            try db.execute(sql: "RELEASE one_write")
            changed.formUnion(transaction.changedKeys)
            events = events || transaction.changedEvents
            return answer
        } catch {
            // For some errors SQLite gives up the whole transaction; on failing storage none is to be relied on.
            guard db.isInsideTransaction, !StoreFailure.isLasting(error) else { throw error }
            try db.execute(sql: "ROLLBACK TO one_write; RELEASE one_write")
            let error = StoreFailure.translated(error)
            return { write.refuse(error) }
        }
    }

    /// Translates what lost a transaction or a checkpoint, and takes no more where the storage itself failed.
    func judged(_ error: any Error) -> any Error {
        let translated = StoreFailure.translated(error)
        if StoreFailure.isLasting(error), let translated = translated as? MerchantError {
            let failure = MerchantError(
                translated.code, "\(translated.detail); nothing is written until the daemon is restarted")
            state.withLock { $0.failure = $0.failure ?? failure }
            return failure
        }
        return translated
    }
}
