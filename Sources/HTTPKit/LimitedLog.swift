package import Logging
import Synchronization

/// A log that callers cannot flood: each message is written a few times without delay, then once in every ``interval``, with
/// the number of lines that were left out.
///
/// A full disk stops claims and with them payments. Metrics count every request, and the audit every refused one.
package final class LimitedLog: Sendable {
    /// Lines of one message and one user that are written without delay.
    package static let burst = 10
    /// After a burst, the time between two lines.
    package static let interval = Duration.seconds(10)
    /// The number of messages and users that are counted separately; further ones share one count.
    static let mostKinds = 256

    private struct Kind: Hashable {
        let message: String
        let uid: UInt32?
    }

    private struct Count {
        /// Lines that may be written now.
        var allowance: Int
        /// When the allowance last grew.
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
    ///   - message: fixed text of the program, never text from a caller.
    ///   - uid: the user whose request causes the line; nil where no request does.
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

    /// - Returns: the number of lines of the kind that were left out since the last one; nil where this one is left out too.
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
