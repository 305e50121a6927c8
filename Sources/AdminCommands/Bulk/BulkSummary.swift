import MerchantKeyClient
import StrictJSON

/// What became of a run.
struct BulkSummary: Sendable {
    /// Why a run ended before its last item.
    struct Stop: Sendable {
        let error: ClientError
        let status: ExitStatus
    }

    /// How many failures are shown; the report has them all.
    static let shownFailures = 20

    let report: String
    private(set) var done = 0
    private(set) var unchanged = 0
    private(set) var failed = 0
    /// Done by an earlier run, as the report says and the daemon confirms.
    var skipped = 0
    var wasInterrupted = false
    var stop: Stop?
    /// Because the run ended before; nil where nobody knows how many there are.
    private(set) var notTried: Int?
    private(set) var failures: [BulkRecord] = []
    private let begin = ContinuousClock.now
    private var duration = Duration.zero

    init(report: String) { self.report = report }

    var finished: Int { done + unchanged + failed }

    /// A second.
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

    /// - Parameter total: how many items there were, as far as is known.
    mutating func end(of total: Int?) {
        duration = ContinuousClock.now - begin
        notTried = stop != nil || wasInterrupted ? total.map { max(0, $0 - finished - skipped) } : 0
    }
}

extension BulkSummary {
    /// Prints the result, and ends the command as it ended.
    ///
    /// - Throws: ``CommandFailure`` unless all is done.
    func conclude(_ printer: Printer) throws {
        switch printer.form {
        case .table: printer.show(blocks)
        case .json: printer.json(document)
        }
        let again = "the same command again goes on where it was"
        if let stop { throw CommandFailure(stop.status, "merchantkeyctl: stopped: \(stop.error); \(again)") }
        if wasInterrupted { throw CommandFailure(.refused, "stopped; \(again)") }
        if failed > 0 { throw CommandFailure(.refused, "\(failed) failed; \(again) and leaves out what is done") }
    }

    private var blocks: [Block] {
        let record = Block.record([
            ("done", Cell("\(done)", done > 0 ? .good : .plain)),
            ("unchanged", unchanged > 0 ? Cell("\(unchanged)") : nil),
            ("done before", skipped > 0 ? Cell("\(skipped)") : nil),
            ("failed", Cell("\(failed)", failed > 0 ? .critical : .plain)),
            ("not tried", (notTried ?? 0) > 0 ? Cell("\(notTried ?? 0)", .warning) : nil),
            ("a second", finished > 0 ? Cell("\(Int(rate))") : nil),
            ("report", Cell(report)),
        ])
        guard !failures.isEmpty else { return [record] }
        let table = Block.table(
            headings: ["FAILED", "WHERE", "WHY"],
            rows: failures.map { failure in
                let why = [failure.code, failure.detail].compactMap(\.self).joined(separator: ": ")
                return [Cell(failure.item), Cell(failure.place), Cell(why)]
            })
        guard failed > failures.count else { return [record, table] }
        return [record, table, .text("and \(failed - failures.count) more, see the report")]
    }

    private var document: JSONValue {
        func number(_ name: String, _ value: Int) -> JSONObject.Member { .init(name: name, value: .number("\(value)")) }
        return .object(
            JSONObject(members: [
                number("done", done), number("unchanged", unchanged), number("skipped", skipped),
                number("failed", failed),
                .init(name: "notTried", value: notTried.map { .number("\($0)") } ?? .null),
                .init(name: "report", value: .string(report)),
                .init(name: "stopped", value: .bool(wasInterrupted || stop != nil)),
            ]))
    }
}
