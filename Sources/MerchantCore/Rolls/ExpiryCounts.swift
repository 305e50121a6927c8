package import Vocabulary

/// The number of active key pairs whose certificate has expired, or expires within 60 days, by severity.
package struct ExpiryCounts: Hashable, Sendable {
    /// Numbers of key pairs: in total, by severity, and how many of them are current.
    package struct Counts: Hashable, Sendable {
        package fileprivate(set) var bySeverity: [Severity: Int] = [:]
        /// How many of the key pairs are in the state `current`.
        package fileprivate(set) var current = 0

        package var total: Int { bySeverity.values.reduce(0, +) }
    }

    /// Certificates that expire later than this are not counted.
    package static let horizon = Duration.seconds(60 * 86_400)

    /// Key pairs whose certificate has expired.
    package private(set) var expired = Counts()
    /// Key pairs whose certificate has not expired, and expires within ``horizon``.
    package private(set) var expiring = Counts()

    package init(in reading: any StatusReading, at now: Timestamp) throws {
        for filter in [ActiveKeyPairFilter.current, .notCurrent] {
            var begin = Timestamp(millisecondsSince1970: .min)
            // Counts the expired certificates first, with the highest severity of this filter. Then counts one range of
            // expiry times for each severity. A range excludes its end `until`, but a severity includes its last
            // millisecond. So `until` is one millisecond later.
            let steps = ExpirySeverity.steps(isCurrent: filter == .current).reversed()
            let mostSevere = steps.first?.severity ?? .notice
            for (severity, isExpired, until) in [(mostSevere, true, now)]
                + steps.map({ ($0.severity, false, now.adding(.seconds($0.days * 86_400)).adding(.milliseconds(1))) })
            {
                let count = try reading.countKeyPairsExpiring(filter, from: begin, to: until)
                begin = until
                if isExpired {
                    expired.add(count, severity, filter)
                } else {
                    expiring.add(count, severity, filter)
                }
            }
        }
    }
}

extension ExpiryCounts.Counts {
    fileprivate mutating func add(_ count: Int, _ severity: Severity, _ filter: ActiveKeyPairFilter) {
        bySeverity[severity, default: 0] += count
        if filter == .current { current += count }
    }
}
