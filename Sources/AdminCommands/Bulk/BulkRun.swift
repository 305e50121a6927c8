import MerchantKeyClient
import Vocabulary

/// Executes one operation for many items, several at the same time, and writes each result to a report.
///
/// A run asks the daemon even about items that the report lists as done or unchanged, because the daemon's database may
/// have been restored from a backup or replaced since the earlier run.
struct BulkRun<Item: BulkItem> {
    private let report: BulkReport
    private let concurrency: Int
    /// Whether the run prints neither its progress nor its pauses.
    private let isQuiet: Bool

    init(report: BulkReport, concurrency: Int, isQuiet: Bool) {
        self.report = report
        self.concurrency = concurrency
        self.isQuiet = isQuiet
    }

    private enum ItemResult: Sendable {
        case outcome(Item, BulkOutcome)
        /// The run was interrupted before the item's call, or before a repeat of it.
        case interrupted
        /// The run must stop, because every further item would fail in the same way.
        case abort(BulkSummary.AbortReason)
    }

    /// Handles all items. Stops early after an interruption (Ctrl-C or SIGTERM), or if every further item would fail.
    ///
    /// - Parameters:
    ///   - total: how many items there will be; nil if unknown.
    ///   - next: returns the next item, or nil after the last one.
    ///   - act: calls the daemon for one item, and returns `unchanged` if what the item requests exists already. `act`
    ///     is called again after a temporary error, such as a missing response, so a repeat must be safe. The second
    ///     argument of `act` is the item's result in the report; nil if no earlier run finished the item.
    func run(
        total: Int?, next: () async throws -> Item?,
        act: @escaping @Sendable (Item, BulkReport.EarlierResult?) async throws -> BulkOutcome
    ) async throws -> BulkSummary {
        var summary = BulkSummary(report: report.path)
        let interruption = Interruption()
        var progress = ProgressBar(total: total, isQuiet: isQuiet)
        let throttle = BulkThrottle { [isQuiet] line in
            if !isQuiet { StandardStream.error.write(line.printable(keepingLines: false) + "\n") }
        }
        defer {
            progress.clear()
            report.sync()
        }
        try await withThrowingTaskGroup(of: ItemResult.self) { group in
            var running = 0
            func record(_ result: ItemResult) throws {
                running -= 1
                switch result {
                case .outcome(let item, let outcome):
                    if case .unchanged = outcome, report.earlierResult(item) != nil {
                        // The report already has a result for the item, and the daemon confirms it. So no line is
                        // added.
                        summary.skipped += 1
                    } else {
                        let line = BulkRecord(item, outcome)
                        try report.add(line)
                        summary.count(line)
                    }
                case .interrupted: break
                case .abort(let reason): summary.abortReason = summary.abortReason ?? reason
                }
                progress.show(
                    .init(finished: summary.finished, skipped: summary.skipped, failed: summary.failed))
            }
            while !interruption.happened, summary.abortReason == nil {
                if running == concurrency, let result = try await group.next() {
                    try record(result)
                    continue
                }
                guard let item = try await next() else { break }
                let earlier = report.earlierResult(item)
                group.addTask {
                    try await Self.actWithRetries(item, throttle, interruption) { try await act($0, earlier) }
                }
                running += 1
            }
            while let result = try await group.next() { try record(result) }
        }
        summary.wasInterrupted = interruption.happened
        summary.finish(total: total)
        return summary
    }

    /// Calls `act` until the item has a result, the run is interrupted, or the run must stop.
    private static func actWithRetries(
        _ item: Item, _ throttle: BulkThrottle, _ interruption: Interruption,
        _ act: @Sendable (Item) async throws -> BulkOutcome
    ) async throws -> ItemResult {
        var failedCalls = 0
        while true {
            try await throttle.wait(for: interruption)
            guard !interruption.happened else { return .interrupted }
            do {
                return .outcome(item, try await act(item))
            } catch let error as ClientError {
                failedCalls += 1
                switch BulkReaction(to: error, failedCalls: failedCalls) {
                case .pauseAll(let duration): await throttle.pause(duration, because: error)
                case .delay(let duration): try await Task.sleep(for: duration)
                case .stop(let status): return .abort(.init(error: error, status: status))
                case .fail:
                    guard case .refused(let refusal) = error else { return .outcome(item, .failed("\(error)")) }
                    return .outcome(item, .failed(code: refusal.code, refusal.detail))
                }
            } catch let failure as CommandFailure {
                return .outcome(item, .failed(failure.message))
            }
        }
    }
}
