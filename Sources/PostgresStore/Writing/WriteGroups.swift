import Dispatch
import MerchantCore
import StoreCore
import Synchronization
import Vocabulary

/// Wraps the error that a caller's function threw, to distinguish this error from errors of the database.
struct CallerError: Error {
    let error: any Error
}

/// Groups the writes of many callers into few transactions. Each commit waits for the server's disk, and this wait is
/// as long for one write as for hundreds.
///
/// While one group is written, new writes wait; they form the next group. A write can see the changes of earlier writes
/// in its group. So no caller gets a result, not even an error, before the whole group is committed
/// or has failed.
final class WriteGroups<Write: GroupedWrite>: Sendable {
    /// A function that runs the writes of a group inside one transaction.
    ///
    /// - Throws: if the transaction must not be committed. Every write of the group then fails with this error.
    /// - Returns: a function that returns the results to the callers. Called when the transaction is on stable storage.
    typealias Body = @Sendable ([Write], WriteConnection.Transaction) throws -> @Sendable () -> Void

    private struct State {
        var waiting: [Write] = []
        /// Whether a group is being written or scheduled.
        var isBusy = false
        /// The latest `storeUnavailable` error, and the time of the first one. A commit that succeeds sets this to nil.
        var impairment: (error: MerchantError, since: Timestamp)?
        /// Whether ``WriteGroups/retryIfImpaired(_:)`` has begun a trial write that has not ended.
        var isTrialRunning = false
        /// If set, new writes are refused with this error.
        var refusal: MerchantError?
    }

    private let kind: WriteConnection.Kind
    /// How many writes one group contains at most.
    private let largestGroup: Int
    private let longestQueue: Int
    private let clock: any WallClock
    private let body: Body
    private let state = Mutex(State())
    private let connection: WriteConnection
    private let thread = DispatchQueue(label: "merchantkeyd.postgresql.writer")

    init(
        _ kind: WriteConnection.Kind, opener: ConnectionOpener, limits: ConnectionSettings.Limits, largestGroup: Int,
        clock: any WallClock, body: @escaping Body
    ) {
        self.kind = kind
        self.largestGroup = largestGroup
        longestQueue = limits.queue
        self.clock = clock
        self.body = body
        connection = WriteConnection(opener, limits: limits)
    }

    var health: StoreHealth {
        state.withLock { state in
            if let refusal = state.refusal { return .failed(refusal) }
            return state.impairment.map { .impaired($0.error, since: $0.since) } ?? .ready
        }
    }

    /// How many writes wait for the next group.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Adds the write to the next group. If that is not possible, refuses the write at once.
    func add(_ write: Write) {
        let (refusal, mustSchedule) = state.withLock { state -> (MerchantError?, Bool) in
            if let refusal = state.refusal { return (refusal, false) }
            guard state.waiting.count < longestQueue else {
                let text = "\(longestQueue) changes are already waiting to be stored: try again"
                return (MerchantError(.overloaded, text), false)
            }
            state.waiting.append(write)
            defer { state.isBusy = true }
            return (nil, !state.isBusy)
        }
        if let refusal { write.refuse(refusal) }
        if mustSchedule { thread.async { self.commitNextGroup() } }
    }

    /// If ``health`` is impaired and no write is waiting, begins a trial write. If it succeeds, ``health`` is `ready`.
    /// Does not wait.
    ///
    /// - Parameter trialWrite: fails for the same reasons as the writes of a group.
    func retryIfImpaired(_ trialWrite: @escaping @Sendable (WriteConnection.Transaction) throws -> Void) {
        let mustBegin = state.withLock { state in
            guard state.impairment != nil, state.refusal == nil, !state.isBusy, !state.isTrialRunning else {
                return false
            }
            state.isTrialRunning = true
            return true
        }
        guard mustBegin else { return }
        thread.async {
            do {
                try self.connection.transaction(self.kind, trialWrite)
                self.state.withLock { $0.impairment = nil }
            } catch { _ = self.translatedAndNoted(error) }
            self.state.withLock { $0.isTrialRunning = false }
        }
    }

    /// Commits one write in a transaction of its own, on the calling thread. Blocks that thread.
    func writeNow<Result: Sendable>(_ body: (WriteConnection.Transaction) throws -> Result) throws -> Result {
        if let refusal = state.withLock({ $0.refusal }) { throw refusal }
        do { return try connection.transaction(kind, body) } catch {
            throw translatedAndNoted(error)
        }
    }

    /// Closes the connection until the next write.
    func closeConnection() { connection.close() }

    /// Refuses new writes, and returns when all waiting writes are done. Blocks the calling thread.
    func finish() {
        state.withLock { $0.refusal = $0.refusal ?? MerchantError(.storeUnavailable, "the store is closed") }
        // An empty block returns after the group that was scheduled before it. That group may have scheduled another
        // group, so this repeats until no group is scheduled.
        repeat { thread.sync {} } while state.withLock { $0.isBusy }
        closeConnection()
    }
}

// MARK: - Methods that run on the thread that writes

extension WriteGroups {
    private func commitNextGroup() {
        let group = state.withLock { state in
            let group = Array(state.waiting.prefix(largestGroup))
            state.waiting.removeFirst(group.count)
            return group
        }
        commit(group)
        let moreWritesWait = state.withLock { state in
            state.isBusy = !state.waiting.isEmpty
            return state.isBusy
        }
        if moreWritesWait { thread.async { self.commitNextGroup() } }
    }

    /// How often a group is run at most. It is run again after a deadlock or a serialization failure.
    private static var attempts: Int { 5 }

    private func commit(_ group: [Write]) {
        for attempt in 1...Self.attempts {
            do {
                let returnResults = try connection.transaction(kind) { try body(group, $0) }
                state.withLock { $0.impairment = nil }
                return returnResults()
            } catch  where attempt < Self.attempts && PostgresErrors.isTransient(error) {
                continue
            } catch let error as CallerError {
                return group.forEach { $0.refuse(error.error) }
            } catch {
                let error = translatedAndNoted(error)
                return group.forEach { $0.refuse(error) }
            }
        }
    }

    /// Translates an error to a `MerchantError`. If it is `storeUnavailable`, sets the health to `impaired`.
    private func translatedAndNoted(_ error: any Error) -> any Error {
        let translated = (error as? UnknownOutcomeError)?.merchantError ?? PostgresErrors.translated(error)
        if let error = translated as? MerchantError, error.code == .storeUnavailable {
            let now = clock.now
            state.withLock { $0.impairment = (error, since: $0.impairment?.since ?? now) }
        }
        return translated
    }
}
