import MerchantKeyClient

/// Holds every worker of a run back while the daemon, or Apple, wants to be left alone.
actor BulkPace {
    private var until = ContinuousClock.now

    /// Returns at once, or when the pause is over.
    func wait() async throws {
        while ContinuousClock.now < until { try await Task.sleep(until: until, clock: .continuous) }
    }

    func pause(_ duration: Duration) { until = max(until, ContinuousClock.now + duration) }
}

/// What a run does about a call that failed.
enum BulkReaction: Hashable, Sendable {
    /// Ask for the same again, after every worker has paused.
    case pauseAll(Duration)
    /// Ask for the same again; the other items go on.
    case waitAlone(Duration)
    /// This item can't be done; the next one may.
    case fail
    /// Every item would fare alike: the item is as undone as before.
    case stop(ExitStatus)

    private static let longestPause = 300
    private static let mostRepeats = 8
    /// A daemon that restarts or has too much to do is waited for, some seconds.
    private static let mostQuickRepeats = 6

    /// - Parameter tries: how often the item was tried so far.
    init(to error: ClientError, tries: Int) {
        let quick = Duration.milliseconds(50) * (1 << min(tries, 6))
        guard case .refused(let refusal) = error else {
            self = !error.mayPass ? .fail : tries > Self.mostQuickRepeats ? .stop(.unreachable) : .waitAlone(quick)
            return
        }
        let asked = Duration.seconds(min(refusal.retryAfter ?? 1 << min(tries, 6), Self.longestPause))
        switch (refusal.status, refusal.code) {
        case (_, "gatewayNotConfigured"), (_, "gatewayUnauthorized"), (_, "gatewayUntrusted"): self = .stop(.refused)
        // A rate limit ends: who keeps to it gets through.
        case (429, _): self = .pauseAll(asked)
        case (503, "gatewayUnavailable"): self = tries > Self.mostRepeats ? .stop(.refused) : .pauseAll(asked)
        case (503, _): self = tries > Self.mostQuickRepeats ? .stop(.refused) : .waitAlone(quick)
        // What became of it is not known; asking for the same again is safe, and finds out.
        case (504, _): self = tries > Self.mostRepeats ? .fail : .waitAlone(.seconds(1 << min(tries - 1, 4)))
        default: self = .fail
        }
    }
}
