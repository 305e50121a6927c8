import Foundation
import Glibc

/// A line on standard error that says how far a run is; nothing where standard error is no terminal.
struct BulkProgress {
    private static let interval = Duration.milliseconds(100)

    private let total: Int?
    private let isShown: Bool
    private let style: Style
    private var last: ContinuousClock.Instant?

    init(total: Int?) {
        self.total = total
        let environment = ProcessInfo.processInfo.environment
        isShown = StandardStream.error.isTerminal && environment["TERM"] != "dumb"
        style = Style.choose(isTerminal: isShown, noColor: environment["NO_COLOR"], term: environment["TERM"])
    }

    mutating func show(_ summary: BulkSummary) {
        guard isShown, last.map({ $0 + Self.interval < .now }) ?? true else { return }
        last = .now
        // ECMA-48: to the line's begin, and erase to its end.
        StandardStream.error.write("\r\u{1B}[K" + Self.line(summary, total: total, columns: Self.columns, style))
    }

    mutating func clear() {
        guard isShown, last != nil else { return }
        StandardStream.error.write("\r\u{1B}[K")
        last = nil
    }

    static func line(_ summary: BulkSummary, total: Int?, columns: Int, _ style: Style) -> String {
        let past = summary.finished + summary.skipped
        let rate = summary.rateSoFar
        var text = total.map { "\(past) of \($0)" } ?? "\(past)"
        text += ", \(Int(rate))/s"
        if let total, total > past, rate >= 1 { text += ", \(time(Double(total - past) / rate)) left" }
        let failed = summary.failed > 0 ? ", \(summary.failed) failed" : ""
        let room = min(40, columns - text.count - failed.count - 4)
        let bar =
            total.map { total in
                guard room >= 10 else { return "" }
                let filled = min(room, room * past / max(total, 1))
                return "[\(String(repeating: "#", count: filled))\(String(repeating: ".", count: room - filled))] "
            } ?? ""
        return bar + text + (failed.isEmpty ? "" : style.paint(failed, .critical))
    }

    private static func time(_ seconds: Double) -> String {
        let seconds = Int(min(seconds, 360_000))
        return seconds < 120 ? "\(seconds) s" : seconds < 7_200 ? "\(seconds / 60) min" : "\(seconds / 3_600) h"
    }

    /// TIOCGWINSZ, whose macro Swift can't read.
    private static var columns: Int {
        var size = winsize()
        guard ioctl(STDERR_FILENO, 0x5413, &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }
}
