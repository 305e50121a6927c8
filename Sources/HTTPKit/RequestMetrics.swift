package import NIOCore
import Synchronization

/// Counts the requests of all servers, and how long they took, by server, route, method and status.
///
/// Each server records through recorders of its own, one for each event loop where it is busy; ``snapshot()`` adds them up.
/// A recorder's lock is therefore free except while the metrics are read.
package final class RequestMetrics: Sendable {
    /// Upper bounds of the duration histogram, in seconds.
    package static let durationBounds: [Double] = [0.000_1, 0.000_5, 0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10]
    static let boundNanoseconds = durationBounds.map { Int64($0 * 1e9) }

    /// What the requests of one route have in common. Never text from a caller, so that the number of series is bounded.
    package struct Route: Hashable, Sendable, Comparable {
        package let server: String
        package let method: String
        /// The path's template, such as `/v1/keys/{publicKeyHash}`.
        package let path: String

        package static func < (left: Self, right: Self) -> Bool {
            (left.server, left.path, left.method) < (right.server, right.path, right.method)
        }
    }

    /// The responses of one route.
    package struct Series: Hashable, Sendable {
        package fileprivate(set) var countByStatus: [Int: Int] = [:]
        /// Responses that took no longer than each of ``durationBounds``, not cumulative; the last element counts the rest.
        package fileprivate(set) var countByDuration = [Int](repeating: 0, count: durationBounds.count + 1)
        package fileprivate(set) var nanoseconds: Int64 = 0

        package var count: Int { countByDuration.reduce(0, +) }

        fileprivate mutating func add(_ other: Series) {
            countByStatus.merge(other.countByStatus, uniquingKeysWith: +)
            for index in countByDuration.indices { countByDuration[index] += other.countByDuration[index] }
            nanoseconds += other.nanoseconds
        }
    }

    /// Records the requests of one event loop, or of one server that is not busy.
    package final class Recorder: Sendable {
        fileprivate let routes: [Route]
        fileprivate let series: Mutex<[Series]>

        fileprivate init(_ routes: [Route]) {
            self.routes = routes
            series = Mutex([Series](repeating: Series(), count: routes.count))
        }

        /// - Parameters:
        ///   - route: the index in the list of ``RequestMetrics/makeRecorder(server:routes:)``; nil where the request matched no route.
        ///   - duration: from the request's end to the response's beginning.
        package func record(_ route: Int?, status: Int, duration: TimeAmount) {
            series.withLock { series in
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
    ///   - routes: methods and paths' templates; further requests are recorded under `other`.
    package func makeRecorder(server: String, routes: [(method: String, path: String)]) -> Recorder {
        let named = routes.map { Route(server: server, method: $0.method, path: $0.path) }
        let recorder = Recorder(named + [Route(server: server, method: "other", path: "other")])
        recorders.withLock { $0.append(recorder) }
        return recorder
    }

    /// Every route that had a request.
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
