import Synchronization

/// How many requests were answered, by route and status, since the start.
final class RequestCounter: Sendable {
    struct Label: Hashable, Sendable, Comparable {
        let method: String
        /// The route's template: never what a caller sent, so that their number is bounded.
        let route: String
        let status: Int

        static func < (left: Self, right: Self) -> Bool {
            (left.route, left.method, left.status) < (right.route, right.method, right.status)
        }
    }

    private let counts = Mutex<[Label: Int]>([:])

    func count(method: String, route: String, status: Int) {
        counts.withLock { $0[Label(method: method, route: route, status: status), default: 0] += 1 }
    }

    func snapshot() -> [Label: Int] { counts.withLock { $0 } }
}
