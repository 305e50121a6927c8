import MerchantKeyClient
import StrictJSON

/// Does the same to many items: some beside each other, each result in a report, what an earlier run did left out.
struct BulkRun<Item: BulkItem> {
    /// How many a run does at the same time.
    static var defaultConcurrency: Int { 32 }
    static var concurrencyRange: ClosedRange<Int> { 1...128 }

    private let verb: String
    private let report: BulkReport
    private let concurrency: Int

    init(_ verb: String, report: BulkReport, concurrency: Int) {
        self.verb = verb
        self.report = report
        self.concurrency = concurrency
    }

    private enum Ending: Sendable {
        case outcome(Item, BulkOutcome)
        /// The daemon can't be reached: the item is as undone as before.
        case unreachable(ClientError)
    }

    /// - Parameters:
    ///   - total: how many items there will be, as far as is known.
    ///   - next: the next item; nil at the end.
    ///   - act: must be safe to repeat, because a connection may end between the deed and its answer.
    func run(
        total: Int?, next: () async throws -> Item?, act: @escaping @Sendable (Item) async throws -> BulkOutcome
    ) async throws -> BulkSummary {
        var summary = BulkSummary(verb: verb, report: report.path)
        let interruption = Interruption()
        var progress = BulkProgress(total: total)
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
                    let record = BulkRecord(item, of: verb, outcome)
                    try report.add(record)
                    summary.count(record)
                case .unreachable(let error): summary.unreachable = error
                }
                progress.show(summary)
            }
            while !interruption.happened, summary.unreachable == nil {
                if underWay == concurrency, let ending = try await group.next() {
                    try take(ending)
                    continue
                }
                guard let item = try await next() else { break }
                guard !report.isFinished(item) else {
                    summary.skipped += 1
                    continue
                }
                group.addTask { try await Self.attempt(item, act) }
                underWay += 1
            }
            while let ending = try await group.next() { try take(ending) }
        }
        summary.wasInterrupted = interruption.happened
        summary.end()
        return summary
    }

    /// A daemon that restarts or has too much to do is waited for, some seconds.
    private static func attempt(
        _ item: Item, _ act: @Sendable (Item) async throws -> BulkOutcome
    ) async throws -> Ending {
        var pause = Duration.milliseconds(100)
        while true {
            do {
                return .outcome(item, try await act(item))
            } catch let error as ClientError where error.mayPass {
                guard pause < .seconds(4) else { return .unreachable(error) }
                try await Task.sleep(for: pause)
                pause *= 2
            } catch let error as ClientError {
                if case .refused(let refusal) = error { return .outcome(item, .failed(refusal.description)) }
                return .outcome(item, .failed(error.description))
            } catch let failure as CommandFailure {
                return .outcome(item, .failed(failure.message))
            }
        }
    }
}
