import MerchantCore

/// Whether the daemon may start. Depends only on the ``StartObservation`` and the flag `--accept-older-database`.
///
/// The daemon decides before it creates a master key or opens a SQLite database, and again when the database is open
/// and ``StartObservation/auditComparison`` is known.
package enum StartDecision: Equatable, Sendable {
    /// The daemon may start.
    ///
    /// - Parameters:
    ///   - losses: findings of acknowledged changes that the database lacks. The daemon records them in the audit.
    ///   - warnings: findings that the daemon only logs.
    case open(losses: [StartFinding], warnings: [StartFinding])
    case refuse([StartFinding])

    package init(on observation: StartObservation, acceptsOlderDatabase: Bool) {
        let observed = observation.findings
        func findings(with consequence: StartFinding.Consequence) -> [StartFinding] {
            observed.filter { $0.code.consequence == consequence }
        }
        let refusals = findings(with: .refusal)
        let losses = findings(with: .refusalUnlessAccepted)
        if !refusals.isEmpty {
            self = .refuse(refusals)
        } else if !losses.isEmpty, !acceptsOlderDatabase {
            self = .refuse(losses)
        } else {
            self = .open(losses: losses + findings(with: .recordedLoss), warnings: findings(with: .warning))
        }
    }

    /// - Returns: the findings with which the daemon starts.
    /// - Throws: ``StartRefusal`` if the daemon must not start.
    func findingsUnlessRefused() throws(StartRefusal) -> (losses: [StartFinding], warnings: [StartFinding]) {
        switch self {
        case .open(let losses, let warnings): (losses, warnings)
        case .refuse(let findings): throw StartRefusal(findings: findings)
        }
    }
}
