/// Exponential backoff: each consecutive failure doubles the pause, up to a limit.
package struct Backoff: Hashable, Sendable {
    /// The pause after the first failure.
    package var first: Duration
    /// The limit of the pause.
    package var longest: Duration

    package init(first: Duration, longest: Duration) {
        self.first = first
        self.longest = longest
    }

    /// - Parameter failures: the number of consecutive failures, at least 1.
    package func pause(after failures: Int) -> Duration {
        // The factor is at most 2^20, so that the product does not overflow.
        min(longest, first * (1 << min(max(0, failures - 1), 20)))
    }
}
