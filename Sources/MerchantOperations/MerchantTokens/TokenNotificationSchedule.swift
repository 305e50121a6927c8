import MerchantCore
import Vocabulary

/// When the daemon tries again to fetch an event, and when it gives up.
enum TokenNotificationSchedule {
    static let firstPause = Duration.seconds(1)
    static let longestPause = Duration.seconds(300)
    /// Apple keeps an event for this long.
    static let lifetime = Duration.seconds(7 * 86_400)
    /// How long after its arrival a notification is kept if its event was fetched or lost, to recognize repeats. This
    /// time is longer than ``lifetime``, so that a repeat never becomes a second event.
    static let retention = Duration.seconds(8 * 86_400)
    /// How long after its arrival a notification is kept if Apple does not know its event.
    static let retentionOfUnknown = Duration.seconds(3_600)

    /// The pause after a failed attempt. A part of the pause is random, so that events whose fetches failed at the same
    /// time are not fetched again at the same time.
    ///
    /// - Parameters:
    ///   - failures: the number of failed attempts, at least 1.
    ///   - retryAfter: the shortest pause that Apple asked for, in seconds. It counts only up to ``longestPause``.
    ///   - jitter: a random number from 0 to 1.
    static func pause(after failures: Int, retryAfter: Int?, jitter: Double) -> Duration {
        let full = min(longestPause, firstPause * (1 << min(max(0, failures - 1), 20)))
        let pause = full / 2 + full / 2 * jitter
        return max(pause, min(longestPause, .seconds(max(0, retryAfter ?? 0))))
    }

    /// Whether `lifetime` has passed since `time`.
    static func hasExpired(since time: Timestamp, at now: Timestamp) -> Bool { time.adding(lifetime) <= now }
}
