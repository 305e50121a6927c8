import MerchantCore
import Vocabulary

extension Monitoring {
    /// Findings about certificates of active key pairs that have expired or expire within 60 days. Each finding counts
    /// all of these key pairs and names the most urgent ones.
    static func certificateFindings(in reading: any StatusReading, at now: Timestamp) throws -> [StatusFinding] {
        let counts = try ExpiryCounts(in: reading, at: now)
        var findings: [StatusFinding] = []
        /// Such as `3 active key pairs (1 current) have`.
        func subjectAndVerb(_ counts: ExpiryCounts.Counts) -> String {
            let total = counts.total
            let current =
                total == 1 ? (counts.current == 1 ? "current" : "not current") : "\(counts.current) current"
            return total.counted("active key pair (\(current)) has", "active key pairs (\(current)) have")
        }
        if counts.expired.total > 0 {
            findings.append(
                StatusFinding(
                    code: .certificateExpired,
                    detail:
                        "\(subjectAndVerb(counts.expired)) an expired certificate; the daemon still decrypts tokens for these keys, but Apple encrypts no new tokens to them: finish the roll of each current payment key ('roll status' shows the next step), replace identity keys, and revoke each standby or retiring payment key that no roll and no decryptor uses",
                    counts: counts.expired.bySeverity,
                    mostUrgent: try items(
                        from: Timestamp(millisecondsSince1970: .min), to: now, in: reading, at: now)))
        }
        if counts.expiring.total > 0 {
            findings.append(
                StatusFinding(
                    code: .certificateExpiring,
                    detail:
                        "\(subjectAndVerb(counts.expiring)) a certificate that expires within 60 days: finish the roll of each current payment key ('roll status' shows the next step), replace identity keys, and revoke each standby or retiring payment key that no roll and no decryptor uses",
                    counts: counts.expiring.bySeverity,
                    mostUrgent: try items(
                        from: now, to: now.adding(ExpiryCounts.horizon).adding(.milliseconds(1)), in: reading, at: now))
            )
        }
        return findings
    }

    /// The most urgent key pairs whose certificates expire in a range of time, most urgent first.
    ///
    /// - Parameter end: is not in the range.
    private static func items(
        from begin: Timestamp, to end: Timestamp, in reading: any StatusReading, at now: Timestamp
    ) throws -> [StatusFinding.Item] {
        let expiring = try [ActiveKeyPairFilter.current, .notCurrent].flatMap {
            try reading.keyPairsExpiring($0, from: begin, to: end, limit: StatusFinding.maximumNamed)
        }
        // Sort by severity, highest first, then by expiry. It is enough to read the key pairs of each filter that
        // expire first: among the key pairs of one filter, a key pair that expires earlier is at least as urgent.
        return expiring.map { (item(for: $0, at: now), $0.notAfter) }
            .sorted { ($1.0.severity, $0.1) < ($0.0.severity, $1.1) }.prefix(StatusFinding.maximumNamed).map(\.0)
    }

    private static func item(for expiring: ExpiringKeyPair, at now: Timestamp) -> StatusFinding.Item {
        let keyPair = expiring.keyPair
        let noun = keyPair.purpose == .identity ? "identity certificate" : "certificate"
        return StatusFinding.Item(
            severity: ExpirySeverity.severity(expiry: expiring.notAfter, state: keyPair.state, at: now) ?? .notice,
            detail:
                "the \(noun) of this \(keyPair.state.rawValue) key \(expiring.notAfter < now ? "expired" : "expires") at \(expiring.notAfter)",
            merchantIdentifier: keyPair.merchantIdentifier, publicKeyHash: keyPair.publicKeyHash)
    }

    /// The finding about merchants with fewer active key pairs than their target.
    ///
    /// - Parameter total: the number of these merchants. If it is 0, there is no finding.
    static func targetFindings(
        merchantsBelowTarget total: Int, in reading: any StatusReading, at now: Timestamp
    ) throws -> [StatusFinding] {
        guard total > 0 else { return [] }
        // The severity of one merchant depends on whether it has an active key pair, and on when the certificate of a
        // current key pair expires: see ``TargetRules``. The ends are one millisecond later, because the end of a range
        // is not in the range.
        let (criticalEnd, warningEnd) = (
            now.adding(TargetRules.criticalBefore).adding(.milliseconds(1)),
            now.adding(TargetRules.warningBefore).adding(.milliseconds(1))
        )
        let critical =
            try reading.countWithoutActiveKeyPair()
            + reading.countBelowTarget(certificateExpiringFrom: Timestamp(millisecondsSince1970: .min), to: criticalEnd)
        let warnings = try reading.countBelowTarget(certificateExpiringFrom: criticalEnd, to: warningEnd)
        let limit = StatusFinding.maximumNamed
        var named = try reading.merchantsWithoutActiveKeyPair(limit: limit)
        if named.count < limit {
            named += try reading.merchantsBelowTarget(
                certificateExpiringBy: now.adding(TargetRules.warningBefore), limit: limit - named.count)
        }
        if named.count < limit {
            let alreadyNamed = Set(named.map(\.merchantIdentifier))
            named += try reading.merchantsBelowTarget(afterMerchant: nil, limit: limit)
                .filter { !alreadyNamed.contains($0.merchantIdentifier) }
        }
        return [
            StatusFinding(
                code: .belowTarget,
                detail:
                    "\(total.counted("merchant has fewer active key pairs than its target", "merchants have fewer active key pairs than their target")): generate key pairs and have their CSRs signed",
                counts: [.critical: critical, .warning: warnings, .notice: max(0, total - critical - warnings)],
                mostUrgent: named.prefix(limit).map { item(for: $0, at: now) })
        ]
    }

    /// The finding about active key pairs that have a certificate whose issuer was not verified.
    static func issuerFindings(in reading: any StatusReading) throws -> [StatusFinding] {
        let total = try reading.countIssuerNotVerified()
        guard total > 0 else { return [] }
        return [
            StatusFinding(
                code: .issuerNotVerified,
                detail:
                    "\(total.counted("active key pair has", "active key pairs have")) a certificate whose issuer was not verified, so it may not be from Apple: set 'trust.certificate-issuers', run 'merchantkeyctl reload', and upload the certificates again",
                counts: [.warning: total],
                mostUrgent: try reading.keyPairsWithIssuerNotVerified(limit: StatusFinding.maximumNamed).map {
                    StatusFinding.Item(
                        severity: .warning,
                        detail: "the issuer of a certificate of this \($0.state.rawValue) key was not verified",
                        merchantIdentifier: $0.merchantIdentifier, publicKeyHash: $0.publicKeyHash)
                })
        ]
    }

    private static func item(for merchant: MerchantBelowTarget, at now: Timestamp) -> StatusFinding.Item {
        let expiry =
            merchant.currentCertificateExpiry.map {
                "; the current key's certificate \($0 < now ? "expired" : "expires") at \($0)"
            } ?? ""
        return StatusFinding.Item(
            severity: merchant.severity(at: now),
            detail:
                "\(merchant.activeKeyPairs) of \(merchant.targetActiveKeyPairs.counted("active key pair"))\(expiry)",
            merchantIdentifier: merchant.merchantIdentifier)
    }
}
