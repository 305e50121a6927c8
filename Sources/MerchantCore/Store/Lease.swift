import Synchronization

/// A right that ends at a certain time, unless it is extended. A daemon has two leases: the right to use data from the
/// store that is kept in memory, and the role of the leader. The leader does the work that only one of several daemons
/// does.
///
/// If only this daemon changes the store, its leases never end: the store notifies the caches of each change. If
/// several daemons share a database, another daemon may have changed a key. So a daemon that makes a change waits until
/// every other daemon has been notified of the change or no longer has a lease. Without a lease, a cache must behave as
/// if it were empty.
package final class Lease: Sendable {
    /// For a store that only this daemon changes.
    package static let unlimited = Lease(end: .max)

    private static let origin = ContinuousClock.now
    /// The end, in nanoseconds after ``origin``.
    private let end: Atomic<Int64>

    private init(end: Int64) { self.end = Atomic(end) }

    /// Creates a lease that has ended.
    package convenience init() { self.init(end: .min) }

    /// Whether the lease has no end.
    package var isUnlimited: Bool { end.load(ordering: .acquiring) == .max }

    /// Whether the lease has not ended. The time in which the machine is suspended counts, too: `ContinuousClock`
    /// includes it.
    package var isValid: Bool {
        let end = end.load(ordering: .acquiring)
        return end == .max || Self.nanoseconds(ContinuousClock.now) < end
    }

    /// How much longer the lease is valid; zero if it has ended. Call this only for a lease that has an end.
    package var remaining: Duration {
        let (end, now) = (end.load(ordering: .acquiring), Self.nanoseconds(ContinuousClock.now))
        return end > now ? .nanoseconds(end - now) : .zero
    }

    /// Sets the end.
    package func setEnd(_ instant: ContinuousClock.Instant) {
        end.store(Self.nanoseconds(instant), ordering: .releasing)
    }

    private static func nanoseconds(_ instant: ContinuousClock.Instant) -> Int64 {
        let (seconds, attoseconds) = (instant - origin).components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
