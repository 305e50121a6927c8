import MerchantCore
import Vocabulary

extension Monitoring {
    /// Findings about certificates that have expired or expire within 60 days. Each finding counts all of them and
    /// names the most urgent ones.
    static func certificateFindings(in reading: any StatusReading, at now: Timestamp) throws -> [StatusFinding] {
        let counts = try ExpiryCounts(in: reading, at: now)
        var findings: [StatusFinding] = []
        func words(_ numbers: ExpiryCounts.Numbers, _ one: String, _ many: String) -> String {
            let number = numbers.all
            let current =
                number == 1 ? (numbers.current == 1 ? "current" : "not current") : "\(numbers.current) current"
            return "\(number) active key pair\(number == 1 ? "" : "s") (\(current)) \(number == 1 ? one : many)"
        }
        if counts.ended.all > 0 {
            findings.append(
                StatusFinding(
                    code: .certificateExpired,
                    detail:
                        "\(words(counts.ended, "has", "have")) a certificate that has ended; tokens still decrypt, but Apple encrypts no new ones to it: finish the roll of each current key, and revoke the others",
                    counts: counts.ended.bySeverity,
                    mostUrgent: try items(
                        from: Timestamp(millisecondsSince1970: .min), to: now, in: reading, at: now)))
        }
        if counts.ending.all > 0 {
            findings.append(
                StatusFinding(
                    code: .certificateExpiring,
                    detail:
                        "\(words(counts.ending, "has", "have")) a certificate that ends within 60 days: roll each current key ('roll status' shows what is missing)",
                    counts: counts.ending.bySeverity,
                    mostUrgent: try items(
                        from: now, to: now.adding(ExpiryCounts.horizon).adding(.milliseconds(1)), in: reading, at: now))
            )
        }
        return findings
    }

    private static func items(
        from begin: Timestamp, to end: Timestamp, in reading: any StatusReading, at now: Timestamp
    ) throws -> [StatusFinding.Item] {
        let ending = try [ActiveKeyPairFilter.current, .notCurrent].flatMap {
            try reading.keyPairsExpiring($0, from: begin, to: end, limit: StatusFinding.mostNamed)
        }
        // Merges two lists, each of which is sorted by expiry and therefore by severity.
        return ending.map { (item(for: $0, at: now), $0.notAfter) }
            .sorted { ($1.0.severity, $0.1) < ($0.0.severity, $1.1) }.prefix(StatusFinding.mostNamed).map(\.0)
    }

    private static func item(for ending: ExpiringKeyPair, at now: Timestamp) -> StatusFinding.Item {
        let keyPair = ending.keyPair
        let noun = keyPair.purpose == .identity ? "identity certificate" : "certificate"
        return StatusFinding.Item(
            severity: ExpirySeverity.severity(ends: ending.notAfter, state: keyPair.state, at: now) ?? .notice,
            detail:
                "the \(noun) of this \(keyPair.state.rawValue) key \(ending.notAfter < now ? "ended" : "ends") at \(ending.notAfter)",
            merchantIdentifier: keyPair.merchantIdentifier, publicKeyHash: keyPair.publicKeyHash)
    }

    /// The finding about merchants with fewer active key pairs than their target.
    ///
    /// - Parameter all: the number of these merchants; 0 leads to no finding.
    static func targetFindings(
        below all: Int, in reading: any StatusReading, at now: Timestamp
    ) throws -> [StatusFinding] {
        guard all > 0 else { return [] }
        // One millisecond more, because the end of a range does not belong to the range.
        let (lastDays, window) = (
            now.adding(TargetRules.criticalBefore).adding(.milliseconds(1)),
            now.adding(TargetRules.warningBefore).adding(.milliseconds(1))
        )
        let critical =
            try reading.countWithoutActiveKeyPair()
            + reading.countBelowTarget(certificateExpiringFrom: Timestamp(millisecondsSince1970: .min), to: lastDays)
        let warnings = try reading.countBelowTarget(certificateExpiringFrom: lastDays, to: window)
        let limit = StatusFinding.mostNamed
        var named = try reading.merchantsWithoutActiveKeyPair(limit: limit)
        if named.count < limit {
            named += try reading.merchantsBelowTarget(
                certificateExpiringBy: now.adding(TargetRules.warningBefore), limit: limit - named.count)
        }
        if named.count < limit {
            let known = Set(named.map(\.merchantIdentifier))
            named += try reading.merchantsBelowTarget(after: nil, limit: limit)
                .filter { !known.contains($0.merchantIdentifier) }
        }
        return [
            StatusFinding(
                code: .belowTarget,
                detail:
                    "\(all) merchant\(all == 1 ? " has" : "s have") fewer active key pairs than \(all == 1 ? "its" : "their") target: generate key pairs and have their CSRs signed",
                counts: [.critical: critical, .warning: warnings, .notice: max(0, all - critical - warnings)],
                mostUrgent: named.prefix(limit).map { item(for: $0, at: now) })
        ]
    }

    private static func item(for merchant: MerchantBelowTarget, at now: Timestamp) -> StatusFinding.Item {
        let ends =
            merchant.currentEnds.map { "; the current certificate \($0 < now ? "ended" : "ends") at \($0)" } ?? ""
        return StatusFinding.Item(
            severity: merchant.severity(at: now),
            detail: "\(merchant.activeKeyPairs) of \(merchant.targetActiveKeyPairs) active key pairs\(ends)",
            merchantIdentifier: merchant.merchantIdentifier)
    }
}
