package import Vocabulary

/// When the end of a certificate raises an event: each threshold once.
package enum ExpiryWarning {
    /// Days before the end; 0 is the end itself.
    package static let thresholds = [60, 30, 15, 7, 1, 0]
    fileprivate static let day = Duration.seconds(86_400)

    /// The most urgent threshold that has passed. Thresholds before it that passed while the daemon was stopped raise no event.
    package static func due(ends: Timestamp, at now: Timestamp) -> Int? {
        thresholds.last { time(of: $0, ends) <= now }
    }

    /// When the next threshold passes; nil after the end.
    package static func next(ends: Timestamp, after now: Timestamp) -> Timestamp? {
        thresholds.map { time(of: $0, ends) }.first { $0 > now }
    }

    private static func time(of days: Int, _ ends: Timestamp) -> Timestamp { ends.adding(day * -days) }
}

/// How urgent the end of an active key pair's certificate is. One rule for events and for `status`.
package enum ExpirySeverity {
    /// Days before the end from which on a severity holds, mildest first. The last one holds after the end too, so that it
    /// never becomes milder with time. Nothing is lost at once unless Apple encrypts to the key pair.
    package static func steps(isCurrent: Bool) -> [(severity: Severity, days: Int)] {
        isCurrent
            ? [(.notice, 60), (.warning, 30), (.critical, 7)]
            : [(.notice, 60), (.warning, 15)]
    }

    /// - Returns: nil while there are more than 60 days left.
    package static func severity(ends: Timestamp, state: KeyState, at now: Timestamp) -> Severity? {
        steps(isCurrent: state == .current).last { ends <= now.adding(ExpiryWarning.day * $0.days) }?.severity
    }
}
