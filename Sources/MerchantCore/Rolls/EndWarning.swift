package import Vocabulary

/// When a certificate's end is told of: each threshold once.
package enum EndWarning {
    /// Days before the end; 0 is the end itself.
    package static let thresholds = [60, 30, 15, 7, 1, 0]
    private static let day = Duration.seconds(86_400)

    /// The most urgent threshold that has come; those before it, missed while nobody watched, are not made up for.
    package static func due(ends: Timestamp, at now: Timestamp) -> Int? {
        thresholds.last { moment(of: $0, ends) <= now }
    }

    /// When the next one comes; nil after the end.
    package static func next(ends: Timestamp, after now: Timestamp) -> Timestamp? {
        thresholds.map { moment(of: $0, ends) }.first { $0 > now }
    }

    package static func severity(days: Int, state: KeyState) -> Event.Severity {
        // Nothing is lost at once where Apple does not encrypt to the key.
        guard state == .current else { return days > 15 ? .notice : .warning }
        return days > 30 ? .notice : days > 7 ? .warning : .critical
    }

    private static func moment(of days: Int, _ ends: Timestamp) -> Timestamp { ends.adding(day * -days) }
}
