import Synchronization

/// Counts the requests of all servers by server, route, method and status, and measures how long the responses took.
///
/// Each server counts in its own recorders, and ``snapshot()`` adds up all recorders. The decryptor server has one
/// recorder for each event loop, so that the processors do not compete for one count. The other servers, which have
/// fewer requests, have one recorder each.
package final class RequestMetrics: Sendable {
    /// The upper bounds of the duration histogram's buckets, in seconds.
    package static let durationBounds: [Double] = [0.000_1, 0.000_5, 0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10]
    static let boundNanoseconds = durationBounds.map { Int64($0 * 1e9) }

    /// The labels of one route's metrics. They never contain text from a caller, so the number of series is bounded.
    package struct Route: Hashable, Sendable, Comparable {
        package let server: String
        package let method: String
        /// The path's template, such as `/v1/keys/{publicKeyHash}`.
        package let path: String

        package static func < (left: Self, right: Self) -> Bool {
            (left.server, left.path, left.method) < (right.server, right.path, right.method)
        }
    }

    /// The counts and durations of one route's responses.
    package struct Series: Hashable, Sendable {
        package fileprivate(set) var countByStatus: [Int: Int] = [:]
        /// A histogram that is not cumulative: each response is counted in one element. An element counts the
        /// responses that took at most as long as its bound in ``durationBounds``, and longer than the previous bound.
        /// The last element counts the responses that took longer than all bounds.
        package fileprivate(set) var countByDuration = [Int](repeating: 0, count: durationBounds.count + 1)
        /// The sum of all durations.
        package fileprivate(set) var nanoseconds: Int64 = 0

        package var count: Int { countByDuration.reduce(0, +) }

        fileprivate mutating func add(_ other: Series) {
            countByStatus.merge(other.countByStatus, uniquingKeysWith: +)
            for index in countByDuration.indices { countByDuration[index] += other.countByDuration[index] }
            nanoseconds += other.nanoseconds
        }
    }

    /// The statuses that are counted separately. All others share one count, ``otherStatus``, so that a recorder needs
    /// little memory.
    package static let countedStatuses = [
        101, 200, 201, 202, 204, 206, 301, 302, 303, 304, 307, 308, 400, 401, 403, 404, 405, 406, 408, 409, 410, 411,
        412,
        413, 414, 415, 417, 421, 422, 426, 428, 429, 431, 500, 501, 502, 503, 504, 505,
    ]
    /// The key of other statuses in ``Series/countByStatus``.
    package static let otherStatus = 0
    /// The position of each status from 0 to 599 in ``countedStatuses``; for a status that is not counted separately,
    /// the position after the last one.
    private static let statusPositions: [Int] = {
        var positions = [Int](repeating: countedStatuses.count, count: 600)
        for (position, status) in countedStatuses.enumerated() { positions[status] = position }
        return positions
    }()

    /// Records the requests of one event loop, or of a server that has few requests. A recording is three atomic
    /// additions.
    package final class Recorder: Sendable {
        fileprivate let routes: [Route]
        /// For each route: the count of each status, then of all other statuses, then of each bucket of durations, then
        /// the sum of the durations in nanoseconds.
        private let counts: AtomicCounts

        private static let bucketsBegin = countedStatuses.count + 1
        private static let sumPosition = bucketsBegin + boundNanoseconds.count + 1
        private static let countsPerRoute = sumPosition + 1

        fileprivate init(_ routes: [Route]) {
            self.routes = routes
            counts = AtomicCounts(count: routes.count * Self.countsPerRoute)
        }

        /// - Parameters:
        ///   - route: the route's index in the `routes` of ``RequestMetrics/makeRecorder(server:routes:)``; nil if the
        ///     request matched no route.
        ///   - nanoseconds: how long the server took to produce the response.
        package func record(_ route: Int?, status: Int, nanoseconds: Int64) {
            // The last route is for requests that match no route.
            let begin = (route ?? routes.count - 1) * Self.countsPerRoute
            let nanoseconds = max(0, nanoseconds)
            let status = statusPositions.indices.contains(status) ? statusPositions[status] : countedStatuses.count
            let bucket = boundNanoseconds.firstIndex { nanoseconds <= $0 } ?? boundNanoseconds.count
            counts.add(at: begin + status)
            counts.add(at: begin + Self.bucketsBegin + bucket)
            counts.add(Int(nanoseconds), at: begin + Self.sumPosition)
        }

        fileprivate func series(_ route: Int) -> Series {
            let begin = route * Self.countsPerRoute
            var series = Series()
            for (position, status) in (countedStatuses + [otherStatus]).enumerated() {
                let count = counts[begin + position]
                if count > 0 { series.countByStatus[status] = count }
            }
            for bucket in series.countByDuration.indices {
                series.countByDuration[bucket] = counts[begin + Self.bucketsBegin + bucket]
            }
            series.nanoseconds = Int64(counts[begin + Self.sumPosition])
            return series
        }
    }

    private let recorders = Mutex<[Recorder]>([])

    package init() {}

    /// - Parameters:
    ///   - server: the server's name, a label of every series.
    ///   - routes: the method and the path template of each route. Requests that match no route are recorded under
    ///     `other`.
    package func makeRecorder(server: String, routes: [(method: String, path: String)]) -> Recorder {
        let labels = routes.map { Route(server: server, method: $0.method, path: $0.path) }
        let recorder = Recorder(labels + [Route(server: server, method: "other", path: "other")])
        recorders.withLock { $0.append(recorder) }
        return recorder
    }

    /// The sums of all recorders, for every route that had a request.
    package func snapshot() -> [Route: Series] {
        var sums: [Route: Series] = [:]
        for recorder in recorders.withLock({ $0 }) {
            for (index, route) in recorder.routes.enumerated() {
                let series = recorder.series(index)
                if series.count > 0 { sums[route, default: Series()].add(series) }
            }
        }
        return sums
    }
}
