package import Logging
import Synchronization

/// A log that callers cannot flood. For each user, the first ``burst`` lines with the same message are written without
/// delay, then one line in every ``interval``, with the number of lines that were left out.
///
/// Without this limit, a caller could fill the disk with log lines. The daemon cannot record claims on a full disk, so
/// payments would stop. The metrics still count every request, and the audit every request without a permit.
package final class LimitedLog: Sendable {
    /// How many lines with the same message and user are written without delay.
    package static let burst = 10
    /// The time between two lines with the same message and user after a burst.
    package static let interval = Duration.seconds(10)
    /// How many pairs of message and user are counted separately. All further pairs share one count.
    static let mostKinds = 256

    private struct Kind: Hashable {
        let message: String
        let uid: UInt32?
    }

    private struct Count {
        /// How many lines may be written now.
        var allowance: Int
        /// When `allowance` last grew.
        var since: ContinuousClock.Instant
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
    ///   - uid: the user whose request causes the line; nil if no request causes it.
    ///   - metadata: evaluated only if the line is written.
    package func write(
        _ level: Logger.Level, _ message: String, uid: UInt32? = nil,
        metadata: @autoclosure () -> Logger.Metadata
    ) {
        guard level >= logger.logLevel, let leftOut = admit(Kind(message: message, uid: uid)) else { return }
        var metadata = metadata()
        if leftOut > 0 { metadata["linesLeftOut"] = "\(leftOut)" }
        logger.log(level: level, "\(message)", metadata: metadata)
    }

    /// - Returns: how many lines of the kind were left out since the last one that was written; nil if this line must
    ///   be left out too.
    private func admit(_ kind: Kind) -> Int? {
        let now = now()
        return counts.withLock { counts in
            let isKnown = counts[kind] != nil
            let kind = isKnown || counts.count < Self.mostKinds ? kind : Kind(message: "", uid: nil)
            var count = counts[kind] ?? Count(allowance: Self.burst, since: now)
            let grown = Int((now - count.since) / Self.interval)
            if grown > 0 {
                count.allowance = min(Self.burst, count.allowance + grown)
                count.since = now
            }
            defer { counts[kind] = count }
            guard count.allowance > 0 else {
                count.leftOut += 1
                return nil
            }
            count.allowance -= 1
            defer { count.leftOut = 0 }
            return count.leftOut
        }
    }
}
