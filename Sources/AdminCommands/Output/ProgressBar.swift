import Synchronization

/// How far long work has come, on a terminal; elsewhere it is silent.
final class ProgressBar: Sendable {
    private static let width = 30
    private static let pause = Duration.milliseconds(100)

    private struct State {
        var shownAt: ContinuousClock.Instant?
        var isOver = false
    }

    private let title: String
    /// nil where nobody knows.
    private let total: Int?
    private let start = ContinuousClock.now
    private let isTerminal = StandardStream.error.isTerminal
    private let state = Mutex(State())

    init(_ title: String, total: Int?) {
        self.title = title
        self.total = total
    }

    /// - Parameter remark: what else is to be said, such as how many failed.
    func show(_ done: Int, remark: String = "") {
        guard isTerminal else { return }
        let now = ContinuousClock.now
        state.withLock { state in
            guard !state.isOver, state.shownAt.map({ now - $0 >= Self.pause }) ?? true else { return }
            state.shownAt = now
            StandardStream.error.write("\r\(line(done, at: now))\(remark.isEmpty ? "" : ", \(remark)")\u{1B}[K")
        }
    }

    /// Takes the line away. Once is enough.
    func end() {
        state.withLock { state in
            if isTerminal, state.shownAt != nil, !state.isOver { StandardStream.error.write("\r\u{1B}[K") }
            state.isOver = true
        }
    }

    private func line(_ done: Int, at now: ContinuousClock.Instant) -> String {
        let seconds = max(
            0.001, Double((now - start).components.seconds) + Double((now - start).components.attoseconds) / 1e18)
        let rate = Double(done) / seconds
        var line = "\(title) \(done)"
        if let total, total > 0 {
            let filled = min(Self.width, done * Self.width / total)
            let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: Self.width - filled)
            line = "\(title) [\(bar)] \(done) of \(total)"
            if rate > 0, done < total { line += ", \(Int(Double(total - done) / rate) + 1) s left" }
        }
        return "\(line), \(Int(rate.rounded()))/s"
    }
}
