import GRDB
import MerchantCore
import Synchronization
import Vocabulary

/// Something that waits to be written with others.
protocol GroupedWrite: Sendable {
    /// Answers the caller that nothing was changed.
    var refuse: @Sendable (any Error) -> Void { get }
}

/// Puts what many callers want written into few transactions: a sync costs as much for one as for hundreds.
///
/// While one group is written and synced the next gathers; nothing waits otherwise. Nobody is answered, not even with a
/// refusal, before the group's commit, because each may have seen what others of the group changed.
final class WriteGroups<Write: GroupedWrite>: Sendable {
    /// Writes a group inside a transaction.
    ///
    /// - Throws: where the whole group is lost.
    typealias Body = @Sendable ([Write], Database) throws -> Written

    /// What became of a group.
    struct Written {
        /// Answers the callers, once the transaction is on stable storage.
        let answer: () -> Void
        /// What of the storage kept one of the group from being written, where something did.
        var impairment: MerchantError?
    }

    private struct State {
        var waiting: [Write] = []
        /// Whether a group is being written or will be.
        var isBusy = false
        /// Why a change could not be written, and since when; until one is, and room is proven.
        var impairment: (error: MerchantError, since: Timestamp)?
        /// Why nothing new is taken.
        var refusal: MerchantError?
        /// Why nothing that waits is written either.
        var failure: MerchantError?
        var isUnreliable = false
    }

    private let writer: any DatabaseWriter
    private let place: DatabaseFile.Place
    private let largestGroup: Int
    private let longestQueue: Int
    private let clock: any WallClock
    private let body: Body
    /// Writes as much as any one change may take, in transactions of its own, and gives the room back.
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
                return (MerchantError(.overloaded, "\(longestQueue) changes wait to be stored: try again"), false)
            }
            state.waiting.append(write)
            defer { state.isBusy = true }
            return (nil, !state.isBusy)
        }
        if let refusal { write.refuse(refusal) }
        if begins { scheduleNextGroup() }
    }

    /// Whether what was written may be other than what is on the disk; a file that was moved away is whole.
    var isUnreliable: Bool { state.withLock { $0.isUnreliable } }

    /// - Throws: why nothing is taken any more.
    func requireReady() throws {
        if let refusal = state.withLock({ $0.failure ?? $0.refusal }) { throw refusal }
    }

    /// Looks where the database's file is, before something writes to it past the groups, and takes no more changes where it
    /// is not.
    func requireInPlace() throws {
        do { try place.require() } catch { throw judged(error) }
    }

    /// Commits one change alone, on the calling thread.
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
        } catch { throw judged(error) }
    }

    /// Takes no more changes until a restart.
    func fail(_ error: MerchantError, isUnreliable: Bool = true) {
        let failure = MerchantError(error.code, "\(error.detail); nothing is written until the daemon is restarted")
        state.withLock {
            $0.failure = $0.failure ?? failure
            $0.isUnreliable = $0.isUnreliable || isUnreliable
        }
    }

    /// Writes what waits, takes nothing new, and returns when it is done.
    func finish() {
        state.withLock { $0.refusal = $0.refusal ?? MerchantError(.storeUnavailable, "the store is closed") }
        repeat { writer.writeWithoutTransaction { _ in } } while state.withLock { $0.isBusy }
    }

    /// Translates what lost a transaction or a checkpoint, and takes no more where the storage itself failed.
    func judged(_ error: any Error) -> any Error {
        let translated = StoreFailure.translated(error)
        if StoreFailure.isLasting(error), let translated = translated as? MerchantError {
            fail(translated, isUnreliable: !(error is StoreFailure.Replaced))
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
            // Before, so that nothing more is written beside another file; after, so that nothing is answered that the next
            // start would not find.
            try place.require()
            try db.inTransaction(.immediate) {
                written = try body(group, db)
                return .commit
            }
            try place.require()
        } catch {
            let error = judged(error)
            note(error as? MerchantError)
            for write in group { write.refuse(error) }
            return
        }
        note(written?.impairment)
        // A group of refusals alone has written nothing, so it proves nothing.
        if written?.impairment == nil, db.totalChangesCount > changesBefore { recover(on: db) }
        written?.answer()
    }

    /// Takes the storage for good again where it is: on a full disk a small change may still find room, and the next will not.
    private func recover(on db: Database) {
        guard state.withLock({ $0.impairment != nil }) else { return }
        do {
            try trial(db)
            state.withLock { $0.impairment = nil }
        } catch { note(judged(error) as? MerchantError) }
    }

    /// Remembers what kept a change from being written.
    private func note(_ error: MerchantError?) {
        guard let error, error.code == .storeUnavailable else { return }
        let now = clock.now
        state.withLock { $0.impairment = (error, since: $0.impairment?.since ?? now) }
    }
}
