/// Holds every worker of an import back while Apple wants to be left alone.
actor ImportPace {
    private var until = ContinuousClock.now

    /// Returns at once, or when the pause is over.
    func wait() async throws {
        while ContinuousClock.now < until { try await Task.sleep(until: until, clock: .continuous) }
    }

    func pause(_ duration: Duration) { until = max(until, ContinuousClock.now + duration) }
}
