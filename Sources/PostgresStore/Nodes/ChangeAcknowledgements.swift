import Dispatch
import Glibc
import MerchantCore
import Synchronization

/// Delays the result of a change of key pairs until every other daemon with a lease has applied the change. A daemon
/// without a lease does not use its caches, except during ``LeaseTiming/serveStale``.
///
/// A result is delayed for about 60 s at most, the length of the longest lease, even if the database cannot be queried.
/// By then, each lease has ended or was renewed, and a renewal applies the change.
final class ChangeAcknowledgements: Sendable {
    private struct Waiting {
        let number: Int
        /// When every lease that was renewed before the change has ended.
        let end: ContinuousClock.Instant
        let returnResult: @Sendable () -> Void
    }

    private struct State {
        var waiting: [Waiting] = []
        var isRunning = false
        /// Whether the store is closing. The servers stop earlier, so no request waits for a result.
        var isClosing = false
    }

    /// How long to wait before the table `nodes` is read again, in microseconds: normally, and after a failure.
    private static let (interval, retryInterval): (UInt32, UInt32) = (2000, 250_000)

    private let lease: NodeLease
    private let opener: ConnectionOpener
    private let state = Mutex(State())
    private let connection = Mutex<Connection?>(nil)
    private let queue = DispatchQueue(label: "merchantkeyd.postgresql.acknowledgements")

    init(_ opener: ConnectionOpener, _ lease: NodeLease) {
        self.opener = opener
        self.lease = lease
    }

    /// Calls `returnResult` when every other daemon with a lease has applied the change `number`, at the latest after
    /// about 60 s. Call this after the change was committed.
    func add(_ number: Int, _ returnResult: @escaping @Sendable () -> Void) {
        let end = ContinuousClock.now + LeaseTiming.longest
        let mustStart = state.withLock { state in
            state.waiting.append(Waiting(number: number, end: end, returnResult: returnResult))
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if mustStart { queue.async { self.run() } }
    }

    /// Returns all results. Call this only after the servers have stopped. Blocks the calling thread.
    func finish() {
        state.withLock { $0.isClosing = true }
        repeat { queue.sync {} } while state.withLock { $0.isRunning }
        connection.withLock { $0 = nil }
    }

    private func run() {
        while true {
            let applied = appliedByOthers()
            let now = ContinuousClock.now
            let (ready, isDone) = state.withLock { state in
                func isReady(_ change: Waiting) -> Bool {
                    state.isClosing || change.number <= applied || change.end <= now
                }
                let ready = state.waiting.filter(isReady)
                state.waiting.removeAll(where: isReady)
                state.isRunning = !state.waiting.isEmpty
                return (ready, !state.isRunning)
            }
            for change in ready { change.returnResult() }
            if isDone { return }
            usleep(applied < 0 ? Self.retryInterval : Self.interval)
        }
    }

    /// The number of the last change that every other daemon with a lease has applied; `Int.max` if there is no such
    /// daemon; -1 if the database cannot be queried.
    private func appliedByOthers() -> Int {
        connection.withLock { connection in
            do {
                let current = try connection ?? opener.open().connection
                connection = current
                return try NodeRows(connection: current, node: lease.node).lowestAppliedByOthers() ?? .max
            } catch {
                connection = nil
                return -1
            }
        }
    }
}
