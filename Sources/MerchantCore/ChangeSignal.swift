import Synchronization

/// Wakes the tasks that wait for a change.
package final class ChangeSignal: Sendable {
    private struct State {
        var nextWaiter = 0
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
    }

    private let state = Mutex(State())
    private let count = Atomic<Int>(0)

    package init() {}

    /// The number of changes so far. Read this number before you read what may change, and pass it to
    /// ``wait(after:)``: then a change in between ends the wait immediately. Takes no lock.
    package var generation: Int { count.load(ordering: .acquiring) }

    /// Counts a change, and wakes the waiting tasks. Call this after the change.
    package func send() {
        let waiters = state.withLock { state in
            count.add(1, ordering: .releasing)
            defer { state.waiters = [:] }
            return state.waiters.values
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Waits until there has been a change since `generation` was read, or the task is cancelled.
    package func wait(after generation: Int) async {
        let number = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let mustNotWait = state.withLock { state in
                    // If the task is cancelled already, `onCancel` ran before there was a continuation to resume.
                    guard count.load(ordering: .acquiring) == generation, !Task.isCancelled else { return true }
                    state.waiters[number] = continuation
                    return false
                }
                if mustNotWait { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: number) }?.resume()
        }
    }

    /// Waits as ``wait(after:)`` does, but at most until `deadline`.
    package func wait(after generation: Int, until deadline: ContinuousClock.Instant) async {
        await withTaskGroup { group in
            group.addTask { await self.wait(after: generation) }
            // When one of the two tasks ends, `cancelAll()` ends the other.
            group.addTask { try? await Task.sleep(until: deadline) }
            await group.next()
            group.cancelAll()
        }
    }
}
