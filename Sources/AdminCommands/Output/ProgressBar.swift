import Foundation
import Glibc

/// A line on standard error with the progress of a long operation. It is shown only on a terminal.
package struct ProgressBar {
    /// The progress of the operation.
    package struct State: Hashable, Sendable {
        /// How many items this run has handled, successfully or not.
        let finished: Int
        /// How many items an earlier run had finished already.
        let skipped: Int
        let failed: Int

        package init(finished: Int, skipped: Int = 0, failed: Int = 0) {
            self.finished = finished
            self.skipped = skipped
            self.failed = failed
        }
    }

    /// The shortest time between two updates of the line.
    private static let updateInterval = Duration.milliseconds(100)

    /// The number of all items; nil if it is unknown.
    private let total: Int?
    private let isShown: Bool
    private let style: Style
    private let begin = ContinuousClock.now
    /// When the line was last updated; nil if the line is not on the terminal.
    private var lastUpdate: ContinuousClock.Instant?

    /// - Parameter isQuiet: whether the line is never shown.
    init(total: Int?, isQuiet: Bool) {
        self.total = total
        let environment = ProcessInfo.processInfo.environment
        isShown = !isQuiet && StandardStream.error.isTerminal && environment["TERM"] != "dumb"
        style = Style.choose(isTerminal: isShown, noColor: environment["NO_COLOR"], term: environment["TERM"])
    }

    /// Updates the line, unless it was updated less than 100 ms ago.
    mutating func show(_ state: State) {
        let now = ContinuousClock.now
        guard isShown, lastUpdate.map({ $0 + Self.updateInterval < now }) ?? true else { return }
        lastUpdate = now
        let line = Self.line(state, total: total, after: now - begin, columns: Self.columns, style)
        // ECMA-48: move to the start of the line, and erase it.
        StandardStream.error.write("\r\u{1B}[K" + line)
    }

    /// Erases the line from the terminal.
    mutating func clear() {
        guard isShown, lastUpdate != nil else { return }
        StandardStream.error.write("\r\u{1B}[K")
        lastUpdate = nil
    }

    /// The line. It has at most `columns` characters without colour codes, unless the numbers alone are longer.
    package static func line(
        _ state: State, total: Int?, after time: Duration, columns: Int, _ style: Style
    ) -> String {
        let processed = state.finished + state.skipped
        // The rate counts only the items that this run handled.
        let rate = time > .zero ? Double(state.finished) / (time / .seconds(1)) : 0
        var text = total.map { "\(processed) of \($0)" } ?? "\(processed)"
        text += ", \(Int(rate))/s"
        if let total, total > processed, rate > 0 {
            text += ", \(self.text(ofSeconds: Double(total - processed) / rate)) left"
        }
        let failed = state.failed > 0 ? ", \(state.failed) failed" : ""
        let width = min(40, columns - text.count - failed.count - 4)
        let bar =
            total.map { total in
                guard width >= 10 else { return "" }
                let filled = min(width, width * processed / max(total, 1))
                return "[\(String(repeating: "#", count: filled))\(String(repeating: ".", count: width - filled))] "
            } ?? ""
        return bar + text + (failed.isEmpty ? "" : style.paint(failed, .critical))
    }

    private static func text(ofSeconds seconds: Double) -> String {
        // `Int` traps on a number that is too large, so the time is limited to 100 hours.
        let seconds = Int(min(seconds, 360_000))
        return seconds < 120 ? "\(seconds) s" : seconds < 7_200 ? "\(seconds / 60) min" : "\(seconds / 3_600) h"
    }

    /// The width of the terminal; 80 if it is unknown. 0x5413 is TIOCGWINSZ, a macro that Swift can't import.
    private static var columns: Int {
        var size = winsize()
        guard ioctl(STDERR_FILENO, 0x5413, &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }
}
