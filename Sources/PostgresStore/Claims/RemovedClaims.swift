import Synchronization

/// The id up to which this daemon knows that no claim is left, so that it does not search there again.
///
/// PostgreSQL keeps removed rows until no older snapshot is open, for example that of a dump. A search from the lowest
/// id would read all these rows at each commit.
final class RemovedClaims: Sendable {
    private let highest = Mutex<Int64>(0)

    var id: Int64 { highest.withLock { $0 } }

    /// Call this when the removal is committed.
    func advance(to id: Int64) { highest.withLock { $0 = max($0, id) } }
}
