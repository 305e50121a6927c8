/// How often and how soon a call is repeated that is safe to repeat.
package struct RetryPolicy: Sendable {
    /// The first attempt included.
    package var attempts = 3
    package var backoff = Backoff(first: .milliseconds(500), longest: .seconds(8))
    /// The longest pause that a server may ask for by `Retry-After`. A longer one ends the call.
    package var longestRetryAfter: Duration = .seconds(30)

    package init() {}

    /// The pause before the next attempt. Part of it is random, so that callers that failed together do not return together.
    ///
    /// - Parameters:
    ///   - attempt: how many attempts were made.
    ///   - retryAfter: the pause that the server asked for.
    ///   - chance: a random number from 0 to 1.
    /// - Returns: nil if there is no further attempt.
    package func pause(after attempt: Int, retryAfter: Duration?, chance: Double) -> Duration? {
        guard attempt < attempts else { return nil }
        if let retryAfter {
            return retryAfter <= longestRetryAfter ? retryAfter + backoff.first * chance : nil
        }
        let full = backoff.pause(after: attempt)
        return full / 2 + full / 2 * chance
    }
}
