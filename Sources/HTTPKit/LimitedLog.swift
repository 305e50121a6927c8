package import Logging
import Synchronization

/// A log that callers cannot flood. For each caller, the first ``burst`` lines with the same message are all written.
/// After these, one line is written in each ``interval``; it contains the number of lines that were left out.
///
/// Without this limit, a caller could fill the disk with log lines. On a full disk the daemon cannot record which
/// payment tokens were used, so payments would stop. The metrics still count every request, and the audit counts every
/// request that was refused for lack of a permit.
package final class LimitedLog: Sendable {
    /// How many lines with the same message and caller are written before the limit applies.
    package static let burst = 10
    /// After a burst, the time between two written lines with the same message and caller.
    package static let interval = Duration.seconds(10)
    /// How many pairs of message and caller are counted separately. All further pairs share one count, so that the
    /// counts use a limited amount of memory.
    static let maximumKinds = 256

    /// The message and the caller of lines that are counted together.
    private struct Kind: Hashable {
        let message: String
        let source: String?
    }

    private struct Count {
        /// How many lines may be written now.
        var allowance: Int
        /// When `allowance` last increased.
        var allowanceIncreasedAt: ContinuousClock.Instant
        /// How many lines were left out since the last written line.
        var leftOut = 0
    }

    package let logger: Logger
    private let now: @Sendable () -> ContinuousClock.Instant
    private let counts = Mutex<[Kind: Count]>([:])

    package init(
        _ logger: Logger, now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
    ) {
        self.logger = logger
        self.now = now
    }

    /// - Parameters:
    ///   - message: a constant text of the program, never text from a caller.
    ///   - source: the name of the caller whose request causes the line; nil if no request causes it.
    ///   - metadata: evaluated only if the line is written.
    package func write(
        _ level: Logger.Level, _ message: String, source: String? = nil,
        metadata: @autoclosure () -> Logger.Metadata
    ) {
        guard level >= logger.logLevel, let leftOut = admit(Kind(message: message, source: source)) else { return }
        var metadata = metadata()
        if leftOut > 0 { metadata["linesLeftOut"] = "\(leftOut)" }
        logger.log(level: level, "\(message)", metadata: metadata)
    }

    /// Decides whether a line may be written now, and counts the line.
    ///
    /// - Returns: how many lines of this kind were left out since the last written line; nil if the new line must be
    ///   left out too.
    private func admit(_ kind: Kind) -> Int? {
        let now = now()
        return counts.withLock { counts in
            let isKnown = counts[kind] != nil
            // When the table is full, all further kinds share one entry, which has no message and no caller.
            let kind = isKnown || counts.count < Self.maximumKinds ? kind : Kind(message: "", source: nil)
            var count = counts[kind] ?? Count(allowance: Self.burst, allowanceIncreasedAt: now)
            let increase = Int((now - count.allowanceIncreasedAt) / Self.interval)
            if increase > 0 {
                count.allowance = min(Self.burst, count.allowance + increase)
                count.allowanceIncreasedAt = now
            }
            defer { counts[kind] = count }
            guard count.allowance > 0 else {
                count.leftOut += 1
                return nil
            }
            count.allowance -= 1
            let leftOut = count.leftOut
            count.leftOut = 0
            return leftOut
        }
    }
}
