import FoundationEssentials
import MerchantKeyClient
import WireAPI

/// Registers every row that is not done yet, a few at a time.
struct ImportRun {
    /// What became of all rows.
    struct Tally: Sendable {
        var skipped = 0
        var done = 0
        var refused = 0
        var failed = 0
        /// Why the rest was not tried.
        var stopped: String?
        var daemonIsGone = false
    }

    /// How often one row is tried again.
    static let mostRepeats = 8
    static let longestPause = 300

    let admin: AdminClient
    let report: ImportReport
    let concurrency: Int

    private enum Outcome: Sendable {
        case result(ImportReport.Result, code: String, detail: String)
        /// The rows after it would fare alike.
        case stop(String, daemonIsGone: Bool)
    }

    func register(_ rows: [ImportRow]) async throws -> Tally {
        var tally = Tally()
        let left = rows.filter { !report.doneBefore.contains($0.values) }
        tally.skipped = rows.count - left.count
        let bar = ProgressBar("registering", total: left.count)
        defer { bar.end() }
        let pace = ImportPace()
        try await withThrowingTaskGroup(of: (ImportRow, Outcome).self) { group in
            var rest = left.makeIterator()
            for _ in 0..<concurrency {
                if let row = rest.next() { group.addTask { (row, try await self.register(row, pace)) } }
            }
            while let (row, outcome) = try await group.next() {
                switch outcome {
                case .result(let result, let code, let detail):
                    try report.add(row, result, code: code, detail: detail)
                    switch result {
                    case .done: tally.done += 1
                    case .refused: tally.refused += 1
                    case .failed: tally.failed += 1
                    }
                    bar.show(
                        tally.done + tally.refused + tally.failed,
                        remark: tally.refused + tally.failed > 0 ? "\(tally.refused + tally.failed) not done" : "")
                case .stop(let why, let daemonIsGone):
                    tally.stopped = tally.stopped ?? why
                    tally.daemonIsGone = tally.daemonIsGone || daemonIsGone
                }
                if tally.stopped == nil, let row = rest.next() {
                    group.addTask { (row, try await self.register(row, pace)) }
                }
            }
        }
        return tally
    }

    private func register(_ row: ImportRow, _ pace: ImportPace) async throws -> Outcome {
        var repeats = 0
        while true {
            try await pace.wait()
            do throws(ClientError) {
                let answer = try await admin.register(row.request)
                return .result(.done, code: "", detail: answer.document.warnings.joined(separator: "; "))
            } catch {
                guard case .refused(let refusal) = error else {
                    if case .unreachable = error { return .stop("\(error)", daemonIsGone: true) }
                    return .result(.failed, code: "", detail: "\(error)")
                }
                repeats += 1
                switch Self.reaction(to: refusal, repeats) {
                case .pauseAll(let duration): await pace.pause(duration)
                case .waitAlone(let duration): try await Task.sleep(for: duration)
                case .giveUp(let outcome): return outcome
                }
            }
        }
    }

    private enum Reaction {
        case pauseAll(Duration), waitAlone(Duration), giveUp(Outcome)
    }

    private static func reaction(to refusal: Refusal, _ repeats: Int) -> Reaction {
        let wait = Duration.seconds(min(refusal.retryAfter ?? 1 << min(repeats, 6), longestPause))
        if concernsEveryRow(refusal) { return .giveUp(.stop(refusal.description, daemonIsGone: false)) }
        switch refusal.status {
        // A rate limit ends: who keeps to it gets through.
        case 429: return .pauseAll(wait)
        case 503:
            return repeats <= mostRepeats
                ? .pauseAll(wait) : .giveUp(.stop(refusal.description, daemonIsGone: false))
        // The outcome is not known; asking for the same again is safe, and finds out.
        case 504:
            return repeats <= mostRepeats
                ? .waitAlone(.seconds(1 << min(repeats - 1, 4)))
                : .giveUp(.result(.failed, code: refusal.code, detail: refusal.detail))
        case 500...: return .giveUp(.result(.failed, code: refusal.code, detail: refusal.detail))
        case 409 where refusal.retryAfter != nil:
            return .giveUp(.result(.failed, code: refusal.code, detail: refusal.detail))
        default: return .giveUp(.result(.refused, code: refusal.code, detail: refusal.detail))
        }
    }

    /// Whether no row can be done before somebody sets something right.
    private static func concernsEveryRow(_ refusal: Refusal) -> Bool {
        ["gatewayNotConfigured", "gatewayUnauthorized", "gatewayUntrusted", "forbidden"].contains(refusal.code)
    }
}
