import GRDB
import MerchantCore
import StoreCore
import Synchronization
import Vocabulary

/// Groups the writes of many callers into few transactions. Each commit needs a sync of the disk, and a sync takes the
/// same time for one write as for hundreds.
///
/// While one group is written and synced, new writes wait; they form the next group. A write can see the changes of
/// earlier writes in its group. So no caller gets a result, not even an error, before the whole group is committed
/// or has failed.
final class WriteGroups<Write: GroupedWrite>: Sendable {
    /// A function that runs the writes of a group inside one transaction.
    ///
    /// - Throws: if the transaction must not be committed. Every write of the group then fails with this error.
    typealias Body = @Sendable ([Write], Database) throws -> GroupResult

    /// The result of a group.
    struct GroupResult {
        /// Returns the results to the callers. Called when the transaction is on stable storage.
        let returnResults: () -> Void
        /// A database error of one write of the group, such as a full disk; nil if there was none.
        var databaseError: MerchantError?
    }

    private struct State {
        var waiting: [Write] = []
        /// Whether a group is being written or scheduled.
        var isBusy = false
        /// The reason why the health is `impaired`: the latest `storeUnavailable` error, and the time of the first one.
        /// A successful trial write sets this to nil.
        var impairment: (error: MerchantError, since: Timestamp)?
        /// Whether ``WriteGroups/retryIfImpaired()`` has begun a trial write that has not ended.
        var isTrialRunning = false
        /// If set, new writes are refused with this error. Waiting writes are still committed.
        var refusal: MerchantError?
        /// If set, new and waiting writes are refused with this error until the daemon is restarted.
        var failure: MerchantError?
        /// As ``WriteGroups/isUnreliable``.
        var isUnreliable = false
    }

    private let kind: DatabaseKind
    private let writer: any DatabaseWriter
    private let openedFiles: DatabaseFile.OpenedFiles
    /// How many writes one group contains at most.
    private let largestGroup: Int
    /// How many writes can wait. Further writes are refused with `overloaded`.
    private let longestQueue: Int
    private let clock: any WallClock
    private let body: Body
    /// Writes many bytes, and then frees the space. If this succeeds, the storage works again.
    private let trialWrite: @Sendable (Database) throws -> Void
    private let state = Mutex(State())
    let metrics = WriteMetrics()

    init(
        of kind: DatabaseKind, writer: any DatabaseWriter, openedFiles: DatabaseFile.OpenedFiles, largestGroup: Int,
        longestQueue: Int, clock: any WallClock, trialWrite: @escaping @Sendable (Database) throws -> Void = { _ in },
        body: @escaping Body
    ) {
        self.kind = kind
        self.writer = writer
        self.openedFiles = openedFiles
        self.clock = clock
        self.largestGroup = largestGroup
        self.longestQueue = longestQueue
        self.trialWrite = trialWrite
        self.body = body
    }

    var health: StoreHealth {
        state.withLock { state in
            if let failure = state.failure ?? state.refusal { return .failed(failure) }
            return state.impairment.map { .impaired($0.error, since: $0.since) } ?? .ready
        }
    }

    /// How many writes wait for the next group.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Adds the write to the next group. If that is not possible, refuses the write at once.
    func add(_ write: Write) {
        let (refusal, mustSchedule) = state.withLock { state -> (MerchantError?, Bool) in
            if let refusal = state.failure ?? state.refusal { return (refusal, false) }
            guard state.waiting.count < longestQueue else {
                return (
                    MerchantError(.overloaded, "\(longestQueue) changes are already waiting to be stored: try again"),
                    false
                )
            }
            state.waiting.append(write)
            // If a group is already scheduled or being written, that group schedules the next one.
            defer { state.isBusy = true }
            return (nil, !state.isBusy)
        }
        if let refusal { write.refuse(refusal) }
        if mustSchedule { scheduleNextGroup() }
    }

    /// If ``health`` is impaired and no write is waiting, begins a trial write. If it succeeds, ``health`` is `ready`.
    /// Does not wait.
    func retryIfImpaired() {
        let mustBegin = state.withLock { state in
            guard state.impairment != nil, state.failure == nil, state.refusal == nil, !state.isBusy,
                !state.isTrialRunning
            else {
                return false
            }
            state.isTrialRunning = true
            return true
        }
        guard mustBegin else { return }
        writer.asyncWriteWithoutTransaction { db in
            self.clearImpairmentIfTrialSucceeds(on: db)
            self.state.withLock { $0.isTrialRunning = false }
        }
    }

    /// Whether the database's file may be damaged or lack committed changes, because the storage failed. False if the
    /// file was only moved or removed, because the content of the file is then intact.
    var isUnreliable: Bool { state.withLock { $0.isUnreliable } }

    /// - Throws: if new writes are refused, the error with which they are refused.
    func requireWritesAccepted() throws {
        if let refusal = state.withLock({ $0.failure ?? $0.refusal }) { throw refusal }
    }

    /// Checks that the database's paths still name the opened files. If they do not, throws, and refuses all further
    /// writes. Call this before a write that is not part of a group.
    func requireOriginalFiles() throws {
        do { try openedFiles.requireOriginalFiles() } catch { throw translatedAndRecorded(error) }
    }

    /// Commits one write in a transaction of its own. Blocks the calling thread.
    func writeNow(_ body: (Database) throws -> Void) throws {
        try requireWritesAccepted()
        do {
            try writer.writeWithoutTransaction { db in
                try openedFiles.requireOriginalFiles()
                try db.inTransaction(.immediate) {
                    try body(db)
                    return .commit
                }
                try openedFiles.requireOriginalFiles()
            }
        } catch { throw translatedAndRecorded(error) }
    }

    /// Makes the store refuse all writes until the daemon is restarted.
    ///
    /// - Parameter isUnreliable: whether the content of the database's file may be damaged: see ``isUnreliable``.
    func fail(_ error: MerchantError, isUnreliable: Bool = true) {
        let failure = MerchantError(error.code, "\(error.detail); nothing is written until the daemon starts again")
        state.withLock {
            // The first failure is kept, because it may have caused the later ones.
            $0.failure = $0.failure ?? failure
            $0.isUnreliable = $0.isUnreliable || isUnreliable
        }
    }

    /// Refuses new writes, and returns when all waiting writes are done. Blocks the calling thread.
    func finish() {
        state.withLock { $0.refusal = $0.refusal ?? MerchantError(.storeUnavailable, "the store is closed") }
        // An empty write returns after the group that was scheduled before it. That group may have scheduled another
        // group, so this repeats until no group is scheduled.
        repeat { writer.writeWithoutTransaction { _ in } } while state.withLock { $0.isBusy }
    }

    /// Translates the error of a transaction or a checkpoint to a `MerchantError`. If the error shows that the storage
    /// is no longer reliable, also records that, so that all further writes are refused.
    func translatedAndRecorded(_ error: any Error) -> any Error {
        let translated = SQLiteErrors.translated(error, of: kind)
        if SQLiteErrors.isStorageFailure(error), let translated = translated as? MerchantError {
            fail(translated, isUnreliable: !(error is DatabaseFile.ReplacedError))
            return state.withLock { $0.failure } ?? translated
        }
        return translated
    }
}

// MARK: - Methods that run on the connection that writes

extension WriteGroups {
    /// Commits the next group on the writing connection, and then schedules another group if more writes wait.
    private func scheduleNextGroup() {
        writer.asyncWriteWithoutTransaction { db in
            let (group, failure) = self.state.withLock { state in
                let group = Array(state.waiting.prefix(self.largestGroup))
                state.waiting.removeFirst(group.count)
                return (group, state.failure)
            }
            if let failure { group.forEach { $0.refuse(failure) } } else { self.commit(group, on: db) }
            let moreWritesWait = self.state.withLock { state in
                state.isBusy = !state.waiting.isEmpty
                return state.isBusy
            }
            if moreWritesWait { self.scheduleNextGroup() }
        }
    }

    private func commit(_ group: [Write], on db: Database) {
        let changesBefore = db.totalChangesCount
        var result: GroupResult?
        let start = ContinuousClock.now
        do {
            // Checks the paths twice. Without the check before the transaction, the daemon would write to files that no
            // path names. Without the check after it, a caller could get a result that the next start does not find.
            try openedFiles.requireOriginalFiles()
            try db.inTransaction(.immediate) {
                result = try body(group, db)
                return .commit
            }
            try openedFiles.requireOriginalFiles()
        } catch {
            metrics.countFailure()
            let error = translatedAndRecorded(error)
            noteImpairment(error as? MerchantError)
            for write in group { write.refuse(error) }
            return
        }
        metrics.countCommit(of: group.count, after: ContinuousClock.now - start)
        noteImpairment(result?.databaseError)
        // If the group has written nothing, for example because every write failed, its commit does not show that the
        // storage works.
        if result?.databaseError == nil, db.totalChangesCount > changesBefore { clearImpairmentIfTrialSucceeds(on: db) }
        result?.returnResults()
    }

    /// Sets the health to `ready` again if a trial write succeeds. A small write that succeeds is not enough: on a full
    /// disk, the next write may fail.
    private func clearImpairmentIfTrialSucceeds(on db: Database) {
        guard state.withLock({ $0.impairment != nil }) else { return }
        do {
            try openedFiles.requireOriginalFiles()
            try trialWrite(db)
            try openedFiles.requireOriginalFiles()
            state.withLock { $0.impairment = nil }
        } catch { noteImpairment(translatedAndRecorded(error) as? MerchantError) }
    }

    /// If the error is `storeUnavailable`, sets the health to `impaired`. Ignores other errors.
    private func noteImpairment(_ error: MerchantError?) {
        guard let error, error.code == .storeUnavailable else { return }
        let now = clock.now
        state.withLock { $0.impairment = (error, since: $0.impairment?.since ?? now) }
    }
}
