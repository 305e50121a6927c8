/// How often a failed call is repeated, and after which pauses. Only for calls that are safe to repeat.
package struct RetryPolicy: Sendable {
    /// The largest number of attempts, including the first.
    package var attempts = 3
    package var backoff = Backoff(first: .milliseconds(500), longest: .seconds(8))
    /// The longest pause in `Retry-After` that the caller waits for. If the server asks for a longer pause, the call
    /// fails.
    package var longestRetryAfter: Duration = .seconds(30)

    package init() {}

    /// The pause before the next attempt. A part of the pause is random, so that callers which failed at the same time
    /// do not retry at the same time.
    ///
    /// - Parameters:
    ///   - attempt: the number of attempts so far.
    ///   - retryAfter: the pause that the server asked for, if it did.
    ///   - jitter: a random number from 0 to 1.
    /// - Returns: nil if the call must not be attempted again.
    package func pause(after attempt: Int, retryAfter: Duration?, jitter: Double) -> Duration? {
        guard attempt < attempts else { return nil }
        if let retryAfter {
            return retryAfter <= longestRetryAfter ? retryAfter + backoff.first * jitter : nil
        }
        let full = backoff.pause(after: attempt)
        return full / 2 + full / 2 * jitter
    }
}
