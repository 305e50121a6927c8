import GRDB
import MerchantCore
import Synchronization
import Vocabulary

/// A write that is grouped with others.
protocol GroupedWrite: Sendable {
    /// Returns an error to the caller: nothing was changed.
    var refuse: @Sendable (any Error) -> Void { get }
}

/// Groups the writes of many callers into few transactions, because a sync costs the same for one write as for hundreds.
///
/// While one group is written and synced, the next one gathers. No caller gets a result, not even an error, before the group's
/// commit, because each write may have read the changes of others in the group.
final class WriteGroups<Write: GroupedWrite>: Sendable {
    /// Writes a group inside a transaction.
    ///
    /// - Throws: if the whole group is lost.
    typealias Body = @Sendable ([Write], Database) throws -> Written

    /// The result of a group.
    struct Written {
        /// Returns the results to the callers; called when the transaction is on stable storage.
        let returnResults: () -> Void
        /// The storage failure that one write of the group met, if any.
        var impairment: MerchantError?
    }

    private struct State {
        var waiting: [Write] = []
        /// Whether a group is being written or will be.
        var isBusy = false
        /// The last storage failure and when it began; cleared by a trial write.
        var impairment: (error: MerchantError, since: Timestamp)?
        /// Why new writes are refused.
        var refusal: MerchantError?
        /// Why waiting writes are refused too.
        var failure: MerchantError?
        var isUnreliable = false
    }

    private let writer: any DatabaseWriter
    private let place: DatabaseFile.Place
    private let largestGroup: Int
    private let longestQueue: Int
    private let clock: any WallClock
    private let body: Body
    /// Writes as much as any one transaction may, in transactions of its own, and frees the space again.
    private let trial: @Sendable (Database) throws -> Void
    private let state = Mutex(State())

    init(
        writer: any DatabaseWriter, place: DatabaseFile.Place, largestGroup: Int, longestQueue: Int,
        clock: any WallClock, trial: @escaping @Sendable (Database) throws -> Void = { _ in }, body: @escaping Body
    ) {
        self.writer = writer
        self.place = place
        self.clock = clock
        self.largestGroup = largestGroup
        self.longestQueue = longestQueue
        self.trial = trial
        self.body = body
    }

    var health: StoreHealth {
        state.withLock { state in
            if let failure = state.failure ?? state.refusal { return .failed(failure) }
            return state.impairment.map { .impaired($0.error, since: $0.since) } ?? .ready
        }
    }

    func add(_ write: Write) {
        let (refusal, begins) = state.withLock { state -> (MerchantError?, Bool) in
            if let refusal = state.failure ?? state.refusal { return (refusal, false) }
            guard state.waiting.count < longestQueue else {
                return (
                    MerchantError(.overloaded, "\(longestQueue) changes are waiting to be stored: try again"), false
                )
            }
            state.waiting.append(write)
            defer { state.isBusy = true }
            return (nil, !state.isBusy)
        }
        if let refusal { write.refuse(refusal) }
        if begins { scheduleNextGroup() }
    }

    /// Whether the file may differ from what was written. A file that was only moved is intact.
    var isUnreliable: Bool { state.withLock { $0.isUnreliable } }

    /// - Throws: why new writes are refused.
    func requireReady() throws {
        if let refusal = state.withLock({ $0.failure ?? $0.refusal }) { throw refusal }
    }

    /// Checks that the database's file is in its place before a write outside the groups; if it is not, refuses all further
    /// writes.
    func requireInPlace() throws {
        do { try place.require() } catch { throw handled(error) }
    }

    /// Commits one write alone, on the calling thread.
    func writeNow(_ body: (Database) throws -> Void) throws {
        try requireReady()
        do {
            try writer.writeWithoutTransaction { db in
                try place.require()
                try db.inTransaction(.immediate) {
                    try body(db)
                    return .commit
                }
                try place.require()
            }
        } catch { throw handled(error) }
    }

    /// Refuses all writes until the daemon is restarted.
    func fail(_ error: MerchantError, isUnreliable: Bool = true) {
        let failure = MerchantError(error.code, "\(error.detail); nothing is written until the daemon is restarted")
        state.withLock {
            $0.failure = $0.failure ?? failure
            $0.isUnreliable = $0.isUnreliable || isUnreliable
        }
    }

    /// Writes what waits, refuses new writes, and returns when it is done.
    func finish() {
        state.withLock { $0.refusal = $0.refusal ?? MerchantError(.storeUnavailable, "the store is closed") }
        repeat { writer.writeWithoutTransaction { _ in } } while state.withLock { $0.isBusy }
    }

    /// Translates the error of a transaction or a checkpoint. If the storage itself failed, refuses all further writes.
    func handled(_ error: any Error) -> any Error {
        let translated = SQLiteErrors.translated(error)
        if SQLiteErrors.isStorageFailure(error), let translated = translated as? MerchantError {
            fail(translated, isUnreliable: !(error is DatabaseFile.Replaced))
            return state.withLock { $0.failure } ?? translated
        }
        return translated
    }
}

// MARK: - On the connection that writes

extension WriteGroups {
    private func scheduleNextGroup() {
        writer.asyncWriteWithoutTransaction { db in
            let (group, failure) = self.state.withLock { state in
                let group = Array(state.waiting.prefix(self.largestGroup))
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

    private func commit(_ group: [Write], on db: Database) {
        let changesBefore = db.totalChangesCount
        var written: Written?
        do {
            // Checked before, so that nothing is written beside another file; checked after, so that no caller gets a result that
            // the next start would not find.
            try place.require()
            try db.inTransaction(.immediate) {
                written = try body(group, db)
                return .commit
            }
            try place.require()
        } catch {
            let error = handled(error)
            note(error as? MerchantError)
            for write in group { write.refuse(error) }
            return
        }
        note(written?.impairment)
        // A group of which every write failed has written nothing, so it does not show that the storage works.
        if written?.impairment == nil, db.totalChangesCount > changesBefore { recover(on: db) }
        written?.returnResults()
    }

    /// Clears the impairment after a trial write succeeds. On a full disk a small write may succeed although the next one fails.
    private func recover(on db: Database) {
        guard state.withLock({ $0.impairment != nil }) else { return }
        do {
            try trial(db)
            state.withLock { $0.impairment = nil }
        } catch { note(handled(error) as? MerchantError) }
    }

    /// Stores a storage failure.
    private func note(_ error: MerchantError?) {
        guard let error, error.code == .storeUnavailable else { return }
        let now = clock.now
        state.withLock { $0.impairment = (error, since: $0.impairment?.since ?? now) }
    }
}
