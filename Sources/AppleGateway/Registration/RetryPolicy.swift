/// How often and how soon a call that is safe to repeat is repeated.
package struct RetryPolicy: Sendable {
    /// The first try among them.
    package var attempts = 3
    package var firstDelay: Duration = .milliseconds(500)
    package var longestDelay: Duration = .seconds(8)
    /// What Apple asks to wait is waited up to here; more is told to the caller.
    package var longestRetryAfter: Duration = .seconds(30)

    package init() {}

    /// The time before the next try: half fixed, half by chance, so that callers that failed together come apart.
    ///
    /// - Parameters:
    ///   - attempt: how many tries were made.
    ///   - chance: 0 to 1.
    /// - Returns: nil where there is to be no further try.
    func delay(after attempt: Int, retryAfter: Int?, chance: Double) -> Duration? {
        guard attempt < attempts else { return nil }
        if let retryAfter {
            let wanted = Duration.seconds(retryAfter)
            return wanted <= longestRetryAfter ? wanted + firstDelay * chance : nil
        }
        let full = min(longestDelay, firstDelay * (1 << min(attempt - 1, 20)))
        return full / 2 + full / 2 * chance
    }
}
