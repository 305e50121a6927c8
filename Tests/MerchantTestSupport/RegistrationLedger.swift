/// The requests of a test and their results, to compare with Apple's record: every acknowledged change must be there,
/// and no change that was not requested.
///
/// The requests for one merchant must be recorded one after another, as they were sent. Names are plain text, so that
/// tests of real processes can use the ledger too.
package struct RegistrationLedger: Sendable {
    package enum Outcome: Sendable {
        case acknowledged
        /// The change certainly did not and will not happen.
        case refused
        /// No response was received.
        case unknown
    }

    private struct Domain: Hashable {
        let partner: String
        let name: String
    }

    /// For each domain, the possible states: registered (true), not registered (false), or both.
    private var possible: [Domain: Set<Bool>] = [:]
    /// How many requests had each outcome, by the outcome's name.
    package private(set) var counts: [String: Int] = [:]

    package init() {}

    package mutating func noteRegistration(of domains: [String], for partner: String, _ outcome: Outcome) {
        note(domains, partner, becomes: true, outcome)
    }

    package mutating func noteUnregistration(of domains: [String], for partner: String, _ outcome: Outcome) {
        note(domains, partner, becomes: false, outcome)
    }

    package mutating func merge(_ other: RegistrationLedger) {
        possible.merge(other.possible) { _, _ in preconditionFailure("two ledgers contain the same merchant") }
        counts.merge(other.counts, uniquingKeysWith: +)
    }

    private mutating func note(_ domains: [String], _ partner: String, becomes: Bool, _ outcome: Outcome) {
        counts["\(outcome)", default: 0] += 1
        for name in domains {
            let domain = Domain(partner: partner, name: name)
            let before = possible[domain] ?? [false]
            switch outcome {
            case .acknowledged: possible[domain] = [becomes]
            case .refused: possible[domain] = before
            case .unknown: possible[domain] = before.union([becomes])
            }
        }
    }

    /// - Parameter registered: the domains of each merchant, at Apple or in the desired state.
    /// - Returns: the violations, one line for each domain.
    package func violations(in registered: [String: Set<String>]) -> [String] {
        var violations: [String] = []
        for (domain, states) in possible {
            let isThere = registered[domain.partner]?.contains(domain.name) ?? false
            guard !states.contains(isThere) else { continue }
            violations.append(
                isThere
                    ? "\(domain.partner) has \(domain.name), whose removal was acknowledged or which was never registered"
                    : "\(domain.partner) lacks \(domain.name), which was acknowledged")
        }
        for (partner, names) in registered {
            for name in names where possible[Domain(partner: partner, name: name)] == nil {
                violations.append("\(partner) has \(name), which was not requested")
            }
        }
        return violations.sorted()
    }
}
