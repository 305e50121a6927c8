import MerchantCore
import Synchronization

/// Wakes those who wait for events: whoever lists them as they come, and whoever delivers them.
package final class EventNotifier: EventObserver, Sendable {
    private struct State {
        var turn = 0
        var nextWaiter = 0
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
    }

    private let state = Mutex(State())

    package init() {}

    /// How often it rang. Taken before one looks, it keeps a ring in between from being missed.
    package var turn: Int { state.withLock { $0.turn } }

    package func eventsChanged() {
        let waiters = state.withLock { state in
            state.turn += 1
            defer { state.waiters = [:] }
            return state.waiters.values
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Returns once it has rung after `turn`, or when the task is cancelled.
    package func rings(after turn: Int) async {
        let number = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    // Cancelled before this line, the handler found nobody to wake.
                    guard state.turn == turn, !Task.isCancelled else { return true }
                    state.waiters[number] = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: number) }?.resume()
        }
    }

    /// The same, and no longer than until `deadline`.
    package func rings(after turn: Int, until deadline: ContinuousClock.Instant) async {
        await withTaskGroup { group in
            group.addTask { await self.rings(after: turn) }
            // Cancelled once it rang: then there is nothing left to wait for.
            group.addTask { try? await Task.sleep(until: deadline) }
            await group.next()
            group.cancelAll()
        }
    }
}
