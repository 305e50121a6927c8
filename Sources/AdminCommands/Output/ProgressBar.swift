import Foundation
import Glibc

/// A line on standard error with the progress of a long operation. It is shown only on a terminal.
package struct ProgressBar {
    /// The progress of the operation.
    package struct State: Hashable, Sendable {
        /// How many items this run has handled, successfully or not.
        let finished: Int
        /// How many items an earlier run had done.
        let skipped: Int
        let failed: Int

        package init(finished: Int, skipped: Int = 0, failed: Int = 0) {
            self.finished = finished
            self.skipped = skipped
            self.failed = failed
        }
    }

    private static let interval = Duration.milliseconds(100)

    /// The number of all items; nil if it is unknown.
    private let total: Int?
    private let isShown: Bool
    private let style: Style
    private let begin = ContinuousClock.now
    private var last: ContinuousClock.Instant?

    init(total: Int?) {
        self.total = total
        let environment = ProcessInfo.processInfo.environment
        isShown = StandardStream.error.isTerminal && environment["TERM"] != "dumb"
        style = Style.choose(isTerminal: isShown, noColor: environment["NO_COLOR"], term: environment["TERM"])
    }

    mutating func show(_ state: State) {
        let now = ContinuousClock.now
        guard isShown, last.map({ $0 + Self.interval < now }) ?? true else { return }
        last = now
        let line = Self.line(state, total: total, after: now - begin, columns: Self.columns, style)
        // ECMA-48: move to the start of the line, and erase it.
        StandardStream.error.write("\r\u{1B}[K" + line)
    }

    /// Erases the line from the terminal.
    mutating func clear() {
        guard isShown, last != nil else { return }
        StandardStream.error.write("\r\u{1B}[K")
        last = nil
    }

    /// The line, with at most `columns` characters. Colour codes do not count.
    package static func line(
        _ state: State, total: Int?, after time: Duration, columns: Int, _ style: Style
    ) -> String {
        let past = state.finished + state.skipped
        let rate = time > .zero ? Double(state.finished) / (time / .seconds(1)) : 0
        var text = total.map { "\(past) of \($0)" } ?? "\(past)"
        text += ", \(Int(rate))/s"
        if let total, total > past, rate > 0 { text += ", \(self.time(Double(total - past) / rate)) left" }
        let failed = state.failed > 0 ? ", \(state.failed) failed" : ""
        let width = min(40, columns - text.count - failed.count - 4)
        let bar =
            total.map { total in
                guard width >= 10 else { return "" }
                let filled = min(width, width * past / max(total, 1))
                return "[\(String(repeating: "#", count: filled))\(String(repeating: ".", count: width - filled))] "
            } ?? ""
        return bar + text + (failed.isEmpty ? "" : style.paint(failed, .critical))
    }

    private static func time(_ seconds: Double) -> String {
        let seconds = Int(min(seconds, 360_000))
        return seconds < 120 ? "\(seconds) s" : seconds < 7_200 ? "\(seconds / 60) min" : "\(seconds / 3_600) h"
    }

    /// The width of the terminal. 0x5413 is TIOCGWINSZ, a macro that Swift can't import.
    private static var columns: Int {
        var size = winsize()
        guard ioctl(STDERR_FILENO, 0x5413, &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }
}
