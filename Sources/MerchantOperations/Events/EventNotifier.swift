import MerchantCore

/// Wakes the tasks that wait for events: requests that list new events, and the dispatchers of webhooks.
package final class EventNotifier: EventObserver, Sendable {
    private let signal = ChangeSignal()

    package init() {}

    /// The number of notifications so far. Read this number before you read the events, and pass it to
    /// ``wait(after:)``: then a notification in between ends the wait immediately.
    package var generation: Int { signal.generation }

    package func eventsChanged() { signal.send() }

    /// Waits until there has been a notification since `generation` was read, or the task is cancelled.
    package func wait(after generation: Int) async { await signal.wait(after: generation) }

    /// Waits as ``wait(after:)`` does, but at most until `deadline`.
    package func wait(after generation: Int, until deadline: ContinuousClock.Instant) async {
        await signal.wait(after: generation, until: deadline)
    }
}
