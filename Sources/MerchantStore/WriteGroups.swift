import GRDB
import MerchantCore
import Synchronization

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
    /// - Returns: what answers the callers, once the transaction is on stable storage.
    /// - Throws: where the whole group is lost.
    typealias Body = @Sendable ([Write], Database) throws -> () -> Void

    private struct State {
        var waiting: [Write] = []
        /// Whether a group is being written or will be.
        var isBusy = false
        /// Why the last group was lost; nil once another was written.
        var lastFailure: MerchantError?
        /// Why nothing new is taken.
        var refusal: MerchantError?
        /// Why nothing that waits is written either.
        var failure: MerchantError?
    }

    private let writer: any DatabaseWriter
    private let largestGroup: Int
    private let longestQueue: Int
    private let body: Body
    private let state = Mutex(State())

    init(writer: any DatabaseWriter, largestGroup: Int, longestQueue: Int, body: @escaping Body) {
        self.writer = writer
        self.largestGroup = largestGroup
        self.longestQueue = longestQueue
        self.body = body
    }

    var health: StoreHealth {
        state.withLock { state in
            if let failure = state.failure ?? state.refusal { return .failed(failure) }
            return state.lastFailure.map { .failing($0) } ?? .ready
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

    /// - Throws: why nothing is taken any more.
    func requireReady() throws {
        if let refusal = state.withLock({ $0.failure ?? $0.refusal }) { throw refusal }
    }

    /// Commits one change alone, on the calling thread.
    func writeNow(_ body: (Database) throws -> Void) throws {
        try requireReady()
        do {
            try writer.writeWithoutTransaction { db in
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
        repeat { writer.writeWithoutTransaction { _ in } } while state.withLock { $0.isBusy }
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
        var answer: () -> Void = {}
        do {
            try db.inTransaction(.immediate) {
                answer = try body(group, db)
                return .commit
            }
        } catch {
            let error = judged(error)
            state.withLock { $0.lastFailure = error as? MerchantError ?? $0.lastFailure }
            for write in group { write.refuse(error) }
            return
        }
        state.withLock { $0.lastFailure = nil }
        answer()
    }
}
