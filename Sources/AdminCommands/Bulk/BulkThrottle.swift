import MerchantKeyClient

/// Delays all calls of a run after the daemon or Apple has asked for a pause.
actor BulkThrottle {
    private var pauseEnd = ContinuousClock.now

    /// Waits until no pause is in effect.
    func wait() async throws {
        while ContinuousClock.now < pauseEnd { try await Task.sleep(until: pauseEnd, clock: .continuous) }
    }

    func pause(_ duration: Duration) { pauseEnd = max(pauseEnd, ContinuousClock.now + duration) }
}

/// How a run reacts to a failed call.
enum BulkReaction: Hashable, Sendable {
    /// Repeat the call after a pause. During the pause, the run starts no other call.
    case pauseAll(Duration)
    /// Repeat the call after a delay. The other calls of the run continue.
    case delay(Duration)
    /// Record the item as failed and continue with the next one.
    case fail
    /// End the run, because every item would fail in the same way. The item is not recorded.
    case stop(ExitStatus)

    /// The longest pause, in seconds, even if the daemon requests a longer one.
    private static let longestPause = 300
    /// How often a call is repeated if Apple is unavailable or the call's outcome is unknown.
    private static let maximumRepeats = 8
    /// How often a call is repeated if the daemon sends no response, is restarting or is overloaded. All repeats
    /// together take about 6 seconds, because the delay doubles each time.
    private static let maximumQuickRepeats = 6

    /// - Parameter failedCalls: how many calls for the item have failed, including this one.
    init(to error: ClientError, failedCalls: Int) {
        let quickDelay = Duration.milliseconds(50) * (1 << min(failedCalls, 6))
        guard case .refused(let refusal) = error else {
            if !error.isTemporary {
                self = .fail
            } else {
                // No response: the daemon may be restarting.
                self = failedCalls > Self.maximumQuickRepeats ? .stop(.unreachable) : .delay(quickDelay)
            }
            return
        }
        // Without `Retry-After`, the pause doubles after each failed call.
        let pause = Duration.seconds(min(refusal.retryAfter ?? 1 << min(failedCalls, 6), Self.longestPause))
        switch (refusal.status, refusal.code) {
        case (_, "gatewayNotConfigured"), (_, "gatewayUnauthorized"), (_, "gatewayUntrusted"): self = .stop(.failed)
        // A rate limit is temporary, so the number of repeats has no limit.
        case (429, _): self = .pauseAll(pause)
        case (503, "gatewayUnavailable"): self = failedCalls > Self.maximumRepeats ? .stop(.failed) : .pauseAll(pause)
        // The daemon is restarting or overloaded.
        case (503, _): self = failedCalls > Self.maximumQuickRepeats ? .stop(.failed) : .delay(quickDelay)
        // The outcome at Apple is unknown. A repeat is safe, and returns the outcome.
        case (504, _): self = failedCalls > Self.maximumRepeats ? .fail : .delay(.seconds(1 << min(failedCalls - 1, 4)))
        default: self = .fail
        }
    }
}
