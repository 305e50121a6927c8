import MerchantKeyClient
import StrictJSON
import Vocabulary

/// The numbers and failures of one run of a bulk operation.
struct BulkSummary: Sendable {
    /// Why a run stopped before its last item.
    struct AbortReason: Sendable {
        let error: ClientError
        let status: ExitStatus
    }

    /// How many failures the summary shows. The report contains all failures.
    static let shownFailures = 20

    /// The path of the report.
    let report: String
    private(set) var done = 0
    private(set) var unchanged = 0
    private(set) var failed = 0
    /// How many items this run skipped: an earlier run finished these items, and the daemon confirmed this.
    var skipped = 0
    var wasInterrupted = false
    var abortReason: AbortReason?
    /// How many items have no result, because the run stopped before its last item; nil if this number is unknown.
    private(set) var notTried: Int?
    private(set) var failures: [BulkRecord] = []
    private let begin = ContinuousClock.now
    private var duration = Duration.zero

    init(report: String) { self.report = report }

    /// How many items have a result from this run. Skipped items are not counted.
    var finished: Int { done + unchanged + failed }

    /// How many items per second this run finished; 0 before ``finish(total:)``.
    var rate: Double { duration > .zero ? Double(finished) / (duration / .seconds(1)) : 0 }

    mutating func count(_ record: BulkRecord) {
        switch record.outcome {
        case .done: done += 1
        case .unchanged: unchanged += 1
        case .failed:
            failed += 1
            if failures.count < Self.shownFailures { failures.append(record) }
        }
    }

    /// Call this at the end of the run.
    ///
    /// - Parameter total: how many items there were; nil if unknown.
    mutating func finish(total: Int?) {
        duration = ContinuousClock.now - begin
        notTried = abortReason != nil || wasInterrupted ? total.map { max(0, $0 - finished - skipped) } : 0
    }
}

extension BulkSummary {
    /// Prints the summary.
    ///
    /// - Throws: ``CommandFailure`` if an item failed or the run stopped before its last item.
    func printAndThrowIfFailed(_ printer: Printer) throws {
        switch printer.format {
        case .table: printer.show(blocks)
        case .json: printer.json(document)
        }
        let advice = "run the same command again to continue"
        if let abortReason {
            throw CommandFailure(abortReason.status, "merchantkeyctl: stopped: \(abortReason.error); \(advice)")
        }
        if wasInterrupted { throw CommandFailure(.failed, "interrupted; \(advice)") }
        if failed > 0 {
            throw CommandFailure(
                .failed,
                "\(failed.counted("item")) failed; the report \(report) gives the reasons: correct the causes, then run the same command again to retry the failed items"
            )
        }
    }

    private var blocks: [Block] {
        let record = Block.record([
            ("done", Cell("\(done)", done > 0 ? .good : .plain)),
            ("unchanged", unchanged > 0 ? Cell("\(unchanged)") : nil),
            ("skipped", skipped > 0 ? Cell("\(skipped)") : nil),
            ("failed", Cell("\(failed)", failed > 0 ? .critical : .plain)),
            ("not tried", (notTried ?? 0) > 0 ? Cell("\(notTried ?? 0)", .warning) : nil),
            ("per second", finished > 0 ? Cell("\(Int(rate))") : nil),
            ("report", Cell(report)),
        ])
        guard !failures.isEmpty else { return [record] }
        let table = Block.table(
            headings: ["FAILED ITEM", "LINE", "REASON"],
            rows: failures.map { failure in
                let why = [failure.code, failure.detail].compactMap(\.self).joined(separator: ": ")
                return [Cell(failure.item), Cell(failure.place), Cell(why)]
            })
        guard failed > failures.count else { return [record, table] }
        return [record, table, .text("and \(failed - failures.count) more; see the report")]
    }

    private var document: JSONValue {
        func number(_ name: String, _ value: Int) -> JSONObject.Member { .init(name: name, value: .number("\(value)")) }
        return .object(
            JSONObject(members: [
                number("done", done), number("unchanged", unchanged), number("skipped", skipped),
                number("failed", failed),
                .init(name: "notTried", value: notTried.map { .number("\($0)") } ?? .null),
                .init(name: "report", value: .string(report)),
                .init(name: "stopped", value: .bool(wasInterrupted || abortReason != nil)),
            ]))
    }
}
