/// A histogram of durations. A recording is two atomic additions.
package final class DurationHistogram: Sendable {
    /// The bounds of the buckets for operations that wait for the disk or for memory, in seconds.
    package static let storageBounds = [0.000_1, 0.000_5, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2.5, 10]
    /// The bounds of the buckets for calls over the internet, in seconds.
    package static let networkBounds = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

    /// The counts of a histogram at one time.
    package struct Snapshot: Sendable {
        package let bounds: [Double]
        /// Not cumulative: each recording is counted in one element. The last element counts the recordings above all
        /// bounds.
        package let countByBucket: [Int]
        /// The sum of all durations.
        package let nanoseconds: Int

        package init(bounds: [Double], countByBucket: [Int], nanoseconds: Int) {
            self.bounds = bounds
            self.countByBucket = countByBucket
            self.nanoseconds = nanoseconds
        }
    }

    private let bounds: [Double]
    private let boundNanoseconds: [Int]
    /// The count of each bucket, the count above all bounds, and the sum of all durations in nanoseconds.
    private let counts: AtomicCounts

    /// - Parameter bounds: the upper bounds of the buckets in seconds, in ascending order.
    package init(bounds: [Double]) {
        self.bounds = bounds
        boundNanoseconds = bounds.map { Int($0 * 1e9) }
        counts = AtomicCounts(count: bounds.count + 2)
    }

    package func record(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        let nanoseconds = max(0, Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000))
        counts.add(at: boundNanoseconds.firstIndex { nanoseconds <= $0 } ?? bounds.count)
        counts.add(nanoseconds, at: bounds.count + 1)
    }

    package var snapshot: Snapshot {
        Snapshot(
            bounds: bounds, countByBucket: (0...bounds.count).map { counts[$0] }, nanoseconds: counts[bounds.count + 1])
    }
}
