import MerchantKeyClient

/// Does the same to many items, several at the same time, and writes each result to a report.
///
/// The daemon is asked about every item, also where an earlier run's report says that it is done: the daemon's database may
/// have been restored from a backup since, or be another one. The report is a record, never a reason to leave an item out.
struct BulkRun<Item: BulkItem> {
    private let report: BulkReport
    private let concurrency: Int

    init(report: BulkReport, concurrency: Int) {
        self.report = report
        self.concurrency = concurrency
    }

    private enum Ending: Sendable {
        case outcome(Item, BulkOutcome)
        case stop(BulkSummary.Stop)
    }

    /// - Parameters:
    ///   - total: how many items there will be, as far as is known.
    ///   - next: the next item; nil at the end.
    ///   - act: asks the daemon for what the item needs, and says `unchanged` where the daemon has it already. Must be safe
    ///     to repeat, because a connection may end between the operation and its response. Its second argument is what the
    ///     report says of the item, nil where no earlier run finished it.
    func run(
        total: Int?, next: () async throws -> Item?,
        act: @escaping @Sendable (Item, BulkReport.Earlier?) async throws -> BulkOutcome
    ) async throws -> BulkSummary {
        var summary = BulkSummary(report: report.path)
        let interruption = Interruption()
        var progress = ProgressBar(total: total)
        let pace = BulkPace()
        defer {
            progress.clear()
            report.sync()
        }
        try await withThrowingTaskGroup(of: Ending.self) { group in
            var underWay = 0
            func take(_ ending: Ending) throws {
                underWay -= 1
                switch ending {
                case .outcome(let item, let outcome):
                    if case .unchanged = outcome, report.earlier(item) != nil {
                        // The report has it, and the daemon confirms it.
                        summary.skipped += 1
                    } else {
                        let record = BulkRecord(item, outcome)
                        try report.add(record)
                        summary.count(record)
                    }
                case .stop(let stop): summary.stop = summary.stop ?? stop
                }
                progress.show(
                    .init(finished: summary.finished, skipped: summary.skipped, failed: summary.failed))
            }
            while !interruption.happened, summary.stop == nil {
                if underWay == concurrency, let ending = try await group.next() {
                    try take(ending)
                    continue
                }
                guard let item = try await next() else { break }
                let earlier = report.earlier(item)
                group.addTask { try await Self.attempt(item, pace) { try await act($0, earlier) } }
                underWay += 1
            }
            while let ending = try await group.next() { try take(ending) }
        }
        summary.wasInterrupted = interruption.happened
        summary.end(of: total)
        return summary
    }

    private static func attempt(
        _ item: Item, _ pace: BulkPace, _ act: @Sendable (Item) async throws -> BulkOutcome
    ) async throws -> Ending {
        var tries = 0
        while true {
            try await pace.wait()
            do {
                return .outcome(item, try await act(item))
            } catch let error as ClientError {
                tries += 1
                switch BulkReaction(to: error, tries: tries) {
                case .pauseAll(let duration): await pace.pause(duration)
                case .waitAlone(let duration): try await Task.sleep(for: duration)
                case .stop(let status): return .stop(.init(error: error, status: status))
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
