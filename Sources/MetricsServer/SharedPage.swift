import ServerKit

/// The page of metrics. Requests share it, so that clients cannot make the daemon read its database all the time.
actor SharedPage {
    /// How long a page is reused.
    static let lifetime = Duration.milliseconds(500)

    private let report: MetricsReport
    private var last: (text: String, at: ContinuousClock.Instant)?
    /// The page that is being written. Further requests wait for it.
    private var next: Task<String, Never>?

    init(_ report: MetricsReport) { self.report = report }

    func text() async -> String {
        if let last, last.at + Self.lifetime > .now { return last.text }
        if let next { return await next.value }
        let task = Task { [report] in await report.text() }
        next = task
        let text = await task.value
        (last, next) = ((text, .now), nil)
        return text
    }
}
