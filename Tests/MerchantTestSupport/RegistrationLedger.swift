/// What a tester asked of the daemon and was told, against what is true at Apple: nothing is there that was not asked
/// for, and nothing that was acknowledged is missing.
///
/// For each merchant, requests are noted in the order in which they were made, one after the other. Names are plain text,
/// so that it serves tests of real processes as well.
package struct RegistrationLedger: Sendable {
    package enum Answer: Sendable {
        case acknowledged
        /// Certain that it was not and will not be done.
        case refused
        /// Nobody said what became of it.
        case unknown
    }

    private struct Domain: Hashable {
        let partner: String
        let name: String
    }

    /// Whether a domain may be registered, and whether it may be not.
    private var possible: [Domain: Set<Bool>] = [:]
    package private(set) var counts: [String: Int] = [:]

    package init() {}

    package mutating func noteRegistration(of domains: [String], for partner: String, _ answer: Answer) {
        note(domains, partner, becomes: true, answer)
    }

    package mutating func noteUnregistration(of domains: [String], for partner: String, _ answer: Answer) {
        note(domains, partner, becomes: false, answer)
    }

    package mutating func merge(_ other: RegistrationLedger) {
        possible.merge(other.possible) { _, _ in preconditionFailure("each merchant is in one ledger") }
        counts.merge(other.counts, uniquingKeysWith: +)
    }

    private mutating func note(_ domains: [String], _ partner: String, becomes: Bool, _ answer: Answer) {
        counts["\(answer)", default: 0] += 1
        for name in domains {
            let domain = Domain(partner: partner, name: name)
            let before = possible[domain] ?? [false]
            switch answer {
            case .acknowledged: possible[domain] = [becomes]
            case .refused: possible[domain] = before
            case .unknown: possible[domain] = before.union([becomes])
            }
        }
    }

    /// - Parameter registered: each merchant's domains, as they are at Apple (or as the mirror wants them).
    /// - Returns: what is wrong, a line for each domain.
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
                violations.append("\(partner) has \(name), which nobody asked for")
            }
        }
        return violations.sorted()
    }
}
