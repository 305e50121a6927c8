package import Vocabulary

/// The thresholds before the expiry of a certificate at which an event is raised.
package enum ExpiryWarning {
    /// Days before the expiry; 0 is the expiry itself.
    package static let thresholds = [60, 30, 15, 7, 1, 0]
    fileprivate static let day = Duration.seconds(86_400)

    /// The latest threshold that has passed, in days; nil before the first. Only this threshold raises an event, even
    /// if several thresholds passed while the daemon was stopped.
    package static func due(expiry: Timestamp, at now: Timestamp) -> Int? {
        thresholds.last { time(ofThreshold: $0, before: expiry) <= now }
    }

    /// When the next threshold passes; nil after the expiry.
    package static func next(expiry: Timestamp, after now: Timestamp) -> Timestamp? {
        thresholds.map { time(ofThreshold: $0, before: expiry) }.first { $0 > now }
    }

    private static func time(ofThreshold days: Int, before expiry: Timestamp) -> Timestamp {
        expiry.adding(day * -days)
    }
}

/// How severe it is that the certificate of an active key pair expires. Events and `status` use the same rule.
package enum ExpirySeverity {
    /// The number of days before the expiry at which each severity begins, mildest first. The last severity remains
    /// after the expiry. Only a key pair that Apple encrypts to (`isCurrent`) gets the severity `critical`, because an
    /// expired certificate of another key pair stops no payments.
    package static func steps(isCurrent: Bool) -> [(severity: Severity, days: Int)] {
        isCurrent
            ? [(.notice, 60), (.warning, 30), (.critical, 7)]
            : [(.notice, 60), (.warning, 15)]
    }

    /// - Returns: nil while there are more than 60 days left.
    package static func severity(expiry: Timestamp, state: KeyState, at now: Timestamp) -> Severity? {
        steps(isCurrent: state == .current).last { expiry <= now.adding(ExpiryWarning.day * $0.days) }?.severity
    }
}
