import Synchronization
import Vocabulary

/// Limits how often the time of the last request of an access or a session is stored, because each such write waits for
/// the disk. Without this limit, all requests that run at the same time would store their time.
final class UseThrottle: Sendable {
    /// The shortest time between two writes for the same access or session.
    static let interval = Duration.seconds(60)
    /// The largest number of names in memory. If this number is reached, all names are removed, which costs one more
    /// write for each of them.
    private static let maximumNames = 10_000

    private let claimed = Mutex<[String: Timestamp]>([:])

    /// Whether a new time must be stored.
    ///
    /// - Parameter stored: the stored time; nil if there is none.
    static func isDue(_ stored: Timestamp?, at now: Timestamp) -> Bool {
        stored.map { $0.adding(interval) <= now } ?? true
    }

    /// - Returns: true for the first call for a name, and then for the first call after each ``interval``.
    func claim(_ name: String, at now: Timestamp) -> Bool {
        claimed.withLock { claimed in
            guard Self.isDue(claimed[name], at: now) else { return false }
            if claimed.count >= Self.maximumNames { claimed = [:] }
            claimed[name] = now
            return true
        }
    }
}
