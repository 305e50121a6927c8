import MerchantCore
import Synchronization

/// Wakes the tasks that wait for events: requests that list new events, and the dispatchers of webhooks.
package final class EventNotifier: EventObserver, Sendable {
    private struct State {
        var generation = 0
        var nextWaiter = 0
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
    }

    private let state = Mutex(State())

    package init() {}

    /// The number of notifications so far. Read this number before you read the events, and pass it to
    /// ``wait(after:)``: then a notification in between ends the wait immediately.
    package var generation: Int { state.withLock { $0.generation } }

    package func eventsChanged() {
        let waiters = state.withLock { state in
            state.generation += 1
            defer { state.waiters = [:] }
            return state.waiters.values
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Waits until there has been a notification since `generation` was read, or the task is cancelled.
    package func wait(after generation: Int) async {
        let number = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let mustNotWait = state.withLock { state in
                    // If the task is cancelled already, `onCancel` ran before there was a continuation to resume.
                    guard state.generation == generation, !Task.isCancelled else { return true }
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
