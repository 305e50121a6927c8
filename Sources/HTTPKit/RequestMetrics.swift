package import NIOCore
import Synchronization

/// Counts the requests of all servers by server, route, method and status, and measures how long the responses took.
///
/// Each server counts in its own recorders, and ``snapshot()`` adds up all recorders. The decryptor server has one
/// recorder for each event loop, so that event loops do not wait for each other's locks. The admin server, which has
/// few requests, has one recorder.
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

    /// Records the requests of one event loop, or of a server that has few requests.
    package final class Recorder: Sendable {
        fileprivate let routes: [Route]
        fileprivate let series: Mutex<[Series]>

        fileprivate init(_ routes: [Route]) {
            self.routes = routes
            series = Mutex([Series](repeating: Series(), count: routes.count))
        }

        /// - Parameters:
        ///   - route: the route's index in the `routes` of ``RequestMetrics/makeRecorder(server:routes:)``; nil if the
        ///     request matched no route.
        ///   - duration: how long the server took to produce the response.
        package func record(_ route: Int?, status: Int, duration: TimeAmount) {
            series.withLock { series in
                // The last series is for requests that match no route.
                let index = route ?? series.count - 1
                series[index].countByStatus[status, default: 0] += 1
                series[index].nanoseconds += duration.nanoseconds
                let bucket = boundNanoseconds.firstIndex { duration.nanoseconds <= $0 } ?? boundNanoseconds.count
                series[index].countByDuration[bucket] += 1
            }
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
            for (route, series) in zip(recorder.routes, recorder.series.withLock { $0 }) where series.count > 0 {
                sums[route, default: Series()].add(series)
            }
        }
        return sums
    }
}
