import MerchantKeyClient

/// Delays all calls of a run after the daemon or Apple has asked for a pause.
actor BulkThrottle {
    private var until = ContinuousClock.now

    /// Waits until no pause is in effect.
    func wait() async throws {
        while ContinuousClock.now < until { try await Task.sleep(until: until, clock: .continuous) }
    }

    func pause(_ duration: Duration) { until = max(until, ContinuousClock.now + duration) }
}

/// How a run reacts to a failed call.
enum BulkReaction: Hashable, Sendable {
    /// Repeat the call after a pause, in which the run starts no other call either.
    case pauseAll(Duration)
    /// Repeat the call after a delay. The other calls of the run continue.
    case delay(Duration)
    /// Record the item as failed and continue with the next one.
    case fail
    /// End the run, because every item would fail in the same way. The item is not recorded.
    case stop(ExitStatus)

    private static let longestPause = 300
    private static let mostRepeats = 8
    /// How often a call is repeated if the daemon is restarting or overloaded. With the growing delays, this takes some
    /// seconds.
    private static let mostQuickRepeats = 6

    /// - Parameter tries: how many calls for the item have failed, including this one.
    init(to error: ClientError, tries: Int) {
        let quick = Duration.milliseconds(50) * (1 << min(tries, 6))
        guard case .refused(let refusal) = error else {
            self = !error.isTemporary ? .fail : tries > Self.mostQuickRepeats ? .stop(.unreachable) : .delay(quick)
            return
        }
        let requested = Duration.seconds(min(refusal.retryAfter ?? 1 << min(tries, 6), Self.longestPause))
        switch (refusal.status, refusal.code) {
        case (_, "gatewayNotConfigured"), (_, "gatewayUnauthorized"), (_, "gatewayUntrusted"): self = .stop(.refused)
        // A rate limit is temporary, so the call is repeated without a limit until it succeeds.
        case (429, _): self = .pauseAll(requested)
        case (503, "gatewayUnavailable"): self = tries > Self.mostRepeats ? .stop(.refused) : .pauseAll(requested)
        case (503, _): self = tries > Self.mostQuickRepeats ? .stop(.refused) : .delay(quick)
        // The outcome is unknown. A repeat is safe, and returns the outcome.
        case (504, _): self = tries > Self.mostRepeats ? .fail : .delay(.seconds(1 << min(tries - 1, 4)))
        default: self = .fail
        }
    }
}
