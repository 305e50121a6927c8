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

    /// Increases with each notification. Read it before reading the events, so that no notification in between is missed.
    package var generation: Int { state.withLock { $0.generation } }

    package func eventsChanged() {
        let waiters = state.withLock { state in
            state.generation += 1
            defer { state.waiters = [:] }
            return state.waiters.values
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Returns after a notification later than `generation`, or when the task is cancelled.
    package func wait(after generation: Int) async {
        let number = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    // If the task was cancelled before this line, the handler found no continuation to resume.
                    guard state.generation == generation, !Task.isCancelled else { return true }
                    state.waiters[number] = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: number) }?.resume()
        }
    }

    /// As ``wait(after:)``, and returns at the latest at `deadline`.
    package func wait(after generation: Int, until deadline: ContinuousClock.Instant) async {
        await withTaskGroup { group in
            group.addTask { await self.wait(after: generation) }
            // Cancelled after a notification.
            group.addTask { try? await Task.sleep(until: deadline) }
            await group.next()
            group.cancelAll()
        }
    }
}
