import GRDB
import MerchantCore
import Synchronization
import Vocabulary

/// A write that is grouped with others.
protocol GroupedWrite: Sendable {
    /// Returns an error to the caller instead of a result.
    var refuse: @Sendable (any Error) -> Void { get }
}

/// Groups the writes of many callers into few transactions, because a sync costs the same for one write as for
/// hundreds.
///
/// While one group is written and synced, new writes wait; they form the next group. Each write may have read the
/// changes of earlier writes in its group. So no caller gets a result, not even an error, before the group is
/// committed.
final class WriteGroups<Write: GroupedWrite>: Sendable {
    /// Runs the writes of a group inside one transaction.
    ///
    /// - Throws: if the transaction cannot be committed. Every write of the group then fails with the error.
    typealias Body = @Sendable ([Write], Database) throws -> Written

    /// The result of a group.
    struct Written {
        /// Returns the results to the callers. Called when the transaction is on stable storage.
        let returnResults: () -> Void
        /// A database error of one write of the group, such as a full disk; nil if there was none.
        var impairment: MerchantError?
    }

    private struct State {
        var waiting: [Write] = []
        /// Whether a group is being written or scheduled.
        var isBusy = false
        /// The latest `storeUnavailable` error, and the time of the first one. A successful trial write clears it.
        var impairment: (error: MerchantError, since: Timestamp)?
        /// If set, new writes are refused with this error. Waiting writes are still committed.
        var refusal: MerchantError?
        /// If set, both new and waiting writes are refused with this error.
        var failure: MerchantError?
        /// As ``WriteGroups/isUnreliable``.
        var isUnreliable = false
    }

    private let writer: any DatabaseWriter
    private let place: DatabaseFile.Place
    private let largestGroup: Int
    private let longestQueue: Int
    private let clock: any WallClock
    private let body: Body
    /// A trial write, in transactions of its own: writes more than any one transaction may write, and frees the space
    /// again. If it succeeds, the disk has space again.
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

    /// Whether the database's file may be damaged or lack committed changes, because the storage failed. False for a
    /// file that was only moved or removed, because its content is intact.
    var isUnreliable: Bool { state.withLock { $0.isUnreliable } }

    /// - Throws: the error with which new writes are refused, if they are refused.
    func requireReady() throws {
        if let refusal = state.withLock({ $0.failure ?? $0.refusal }) { throw refusal }
    }

    /// Checks that the database's paths still name the opened files; if they do not, refuses all further writes. Call
    /// it before a write that is not part of a group.
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

    /// Refuses new writes, and returns when all waiting writes are done.
    func finish() {
        state.withLock { $0.refusal = $0.refusal ?? MerchantError(.storeUnavailable, "the store is closed") }
        repeat { writer.writeWithoutTransaction { _ in } } while state.withLock { $0.isBusy }
    }

    /// Translates the error of a transaction or a checkpoint to a `MerchantError`. If the error shows that the storage
    /// is no longer reliable, refuses all further writes.
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
            // Checks the paths twice. The check before the transaction prevents a write beside a file that has replaced
            // the database. The check after it prevents that a caller gets a result that the next start would not find.
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
        // If every write of the group failed, the group has written nothing, so its commit does not show that the
        // storage works.
        if written?.impairment == nil, db.totalChangesCount > changesBefore { recover(on: db) }
        written?.returnResults()
    }

    /// Clears the impairment if a trial write succeeds. The success of a small write is not enough: on a full disk, the
    /// next write may fail.
    private func recover(on db: Database) {
        guard state.withLock({ $0.impairment != nil }) else { return }
        do {
            try trial(db)
            state.withLock { $0.impairment = nil }
        } catch { note(handled(error) as? MerchantError) }
    }

    /// Records a `storeUnavailable` error as the impairment; ignores other errors.
    private func note(_ error: MerchantError?) {
        guard let error, error.code == .storeUnavailable else { return }
        let now = clock.now
        state.withLock { $0.impairment = (error, since: $0.impairment?.since ?? now) }
    }
}
