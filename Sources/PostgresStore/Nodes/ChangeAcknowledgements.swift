import Dispatch
import Glibc
import MerchantCore
import Synchronization

/// Delays the result of a change of key pairs until no other daemon uses the key pairs as they were before.
///
/// That is the case when every other daemon with a lease has applied the change. If the database cannot be asked, it is the
/// case when the longest possible lease that was renewed before the change has ended: a daemon that renews its lease
/// later applies the change before it uses its caches again.
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
    }

    /// How long to wait before the table `nodes` is read again, in microseconds.
    private static let interval: UInt32 = 2000

    private let lease: NodeLease
    private let opener: ConnectionOpener
    private let state = Mutex(State())
    private let connection = Mutex<Connection?>(nil)
    private let thread = DispatchQueue(label: "merchantkeyd.postgresql.acknowledgements")

    init(_ opener: ConnectionOpener, _ lease: NodeLease) {
        self.opener = opener
        self.lease = lease
    }

    /// Calls `returnResult` when no other daemon uses the key pairs as they were before the change `number`. Call this
    /// after the change was committed.
    func add(_ number: Int, _ returnResult: @escaping @Sendable () -> Void) {
        let end = ContinuousClock.now + LeaseTiming.longest
        let mustStart = state.withLock { state in
            state.waiting.append(Waiting(number: number, end: end, returnResult: returnResult))
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if mustStart { thread.async { self.run() } }
    }

    /// Returns when no change waits. Blocks the calling thread.
    func finish() {
        repeat { thread.sync {} } while state.withLock { $0.isRunning }
        connection.withLock { $0 = nil }
    }

    private func run() {
        while true {
            let applied = appliedByOthers()
            let now = ContinuousClock.now
            let (ready, isDone) = state.withLock { state in
                let ready = state.waiting.filter { $0.number <= applied || $0.end <= now }
                state.waiting.removeAll { $0.number <= applied || $0.end <= now }
                state.isRunning = !state.waiting.isEmpty
                return (ready, !state.isRunning)
            }
            for change in ready { change.returnResult() }
            if isDone { return }
            usleep(Self.interval)
        }
    }

    /// The number of the last change that every other daemon with a lease has applied; `Int.max` if there is no such
    /// daemon; -1 if the database cannot be asked.
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
