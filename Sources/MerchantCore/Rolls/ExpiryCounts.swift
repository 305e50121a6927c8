package import Vocabulary

/// The number of active key pairs whose certificate has expired, or expires within 60 days, by severity.
package struct ExpiryCounts: Hashable, Sendable {
    package struct Numbers: Hashable, Sendable {
        package fileprivate(set) var bySeverity: [Severity: Int] = [:]
        /// How many of the key pairs are current, so that Apple encrypts to them.
        package fileprivate(set) var current = 0

        package var all: Int { bySeverity.values.reduce(0, +) }
    }

    /// Certificates that expire later than this are not counted.
    package static let horizon = Duration.seconds(60 * 86_400)

    package private(set) var ended = Numbers()
    package private(set) var ending = Numbers()

    package init(in reading: any StatusReading, at now: Timestamp) throws {
        for filter in [ActiveKeyPairFilter.current, .notCurrent] {
            var begin = Timestamp(millisecondsSince1970: .min)
            // Counts the expired certificates first, then one range for each severity, the most severe first. `until`
            // is excluded.
            let steps = ExpirySeverity.steps(isCurrent: filter == .current).reversed()
            let worst = steps.first?.severity ?? .notice
            for (severity, isOver, until) in [(worst, true, now)]
                + steps.map({ ($0.severity, false, now.adding(.seconds($0.days * 86_400)).adding(.milliseconds(1))) })
            {
                let count = try reading.countKeyPairsExpiring(filter, from: begin, to: until)
                begin = until
                if isOver {
                    ended.add(count, severity, filter)
                } else {
                    ending.add(count, severity, filter)
                }
            }
        }
    }
}

extension ExpiryCounts.Numbers {
    fileprivate mutating func add(_ count: Int, _ severity: Severity, _ filter: ActiveKeyPairFilter) {
        bySeverity[severity, default: 0] += count
        if filter == .current { current += count }
    }
}
