import MerchantKeyClient
import StrictJSON

/// What became of a run.
struct BulkSummary: Sendable {
    /// How many failures are shown; the report has them all.
    static let shownFailures = 20

    let verb: String
    let report: String
    private(set) var done = 0
    private(set) var unchanged = 0
    private(set) var failed = 0
    /// By an earlier run.
    var skipped = 0
    var wasInterrupted = false
    var unreachable: ClientError?
    private(set) var failures: [BulkRecord] = []
    private let begin = ContinuousClock.now
    private var duration = Duration.zero

    init(verb: String, report: String) {
        self.verb = verb
        self.report = report
    }

    var finished: Int { done + unchanged + failed }

    /// A second.
    var rate: Double { rate(in: duration) }

    var rateSoFar: Double { rate(in: ContinuousClock.now - begin) }

    mutating func count(_ record: BulkRecord) {
        switch record.outcome {
        case .done: done += 1
        case .unchanged: unchanged += 1
        case .failed:
            failed += 1
            if failures.count < Self.shownFailures { failures.append(record) }
        }
    }

    mutating func end() { duration = ContinuousClock.now - begin }

    private func rate(in duration: Duration) -> Double {
        let (seconds, attoseconds) = duration.components
        let time = Double(seconds) + Double(attoseconds) / 1e18
        return time > 0 ? Double(finished) / time : 0
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
        if let unreachable {
            throw CommandFailure(.unreachable, "merchantkeyctl: stopped: \(unreachable); \(again)")
        }
        if wasInterrupted { throw CommandFailure(.refused, "stopped; \(again)") }
        if failed > 0 { throw CommandFailure(.refused, "\(failed) failed; \(again) and leaves out what is done") }
    }

    private var blocks: [Block] {
        let record = Block.record([
            ("done", Cell("\(done)", done > 0 ? .good : .plain)),
            ("unchanged", unchanged > 0 ? Cell("\(unchanged)") : nil),
            ("done before", skipped > 0 ? Cell("\(skipped)") : nil),
            ("failed", Cell("\(failed)", failed > 0 ? .critical : .plain)),
            ("a second", finished > 0 ? Cell("\(Int(rate))") : nil),
            ("report", Cell(report)),
        ])
        guard !failures.isEmpty else { return [record] }
        let table = Block.table(
            headings: ["FAILED", "WHERE", "WHY"],
            rows: failures.map { [Cell($0.item), Cell($0.place), Cell($0.detail)] })
        guard failed > failures.count else { return [record, table] }
        return [record, table, .text("and \(failed - failures.count) more, see the report")]
    }

    private var document: JSONValue {
        func number(_ name: String, _ value: Int) -> JSONObject.Member { .init(name: name, value: .number("\(value)")) }
        return .object(
            JSONObject(members: [
                number("done", done), number("unchanged", unchanged), number("skipped", skipped),
                number("failed", failed), .init(name: "report", value: .string(report)),
                .init(name: "stopped", value: .bool(wasInterrupted || unreachable != nil)),
            ]))
    }
}
