import MerchantKeyClient

/// Delays all calls of a run after a rate limit was exceeded, and while Apple is unavailable.
actor BulkThrottle {
    /// Shorter pauses are not announced, because a rate limit of Apple causes many of them.
    static let shortestAnnouncedPause = Duration.seconds(5)

    private var pauseEnd = ContinuousClock.now
    private let announce: @Sendable (String) -> Void

    /// - Parameter announce: gets one line when a pause of at least ``shortestAnnouncedPause`` begins and no other
    ///   pause is in effect.
    init(announce: @escaping @Sendable (String) -> Void) { self.announce = announce }

    /// How long an interruption of the run may go unnoticed during a pause.
    private static let interruptionInterval = Duration.milliseconds(200)

    /// Waits until no pause is in effect, or the run is interrupted.
    func wait(for interruption: Interruption) async throws {
        while !interruption.happened {
            let now = ContinuousClock.now
            guard now < pauseEnd else { return }
            try await Task.sleep(until: min(pauseEnd, now + Self.interruptionInterval), clock: .continuous)
        }
    }

    func pause(_ duration: Duration, because error: ClientError) {
        let isPausing = pauseEnd > ContinuousClock.now
        pauseEnd = max(pauseEnd, ContinuousClock.now + duration)
        guard !isPausing, duration >= Self.shortestAnnouncedPause else { return }
        announce(
            "waiting \(duration.components.seconds) s, then trying again: \(error); Ctrl-C stops the command; run the same command again to continue"
        )
    }
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
    static let longestPause = 300
    /// How many times a call is repeated if Apple is unavailable or the call's outcome is unknown.
    private static let maximumRepeats = 8
    /// How many times a call is repeated if the daemon sends no response, is restarting or is overloaded. All repeats
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
        // Without `Retry-After`, the pause doubles after each failed call, up to 64 seconds.
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
