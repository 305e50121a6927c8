import MerchantCore

/// Whether the daemon may start. Depends only on the ``StartObservation`` and the flag `--accept-older-database`.
///
/// The daemon decides twice: before it opens the database, and again afterwards, when
/// ``StartObservation/auditComparison`` is known.
package enum StartDecision: Equatable, Sendable {
    /// The daemon may start.
    ///
    /// - Parameters:
    ///   - losses: findings that the daemon records in the audit: acknowledged changes that the database lacks.
    ///   - warnings: findings that the daemon only logs.
    case open(losses: [StartFinding], warnings: [StartFinding])
    case refuse([StartFinding])

    package init(on observation: StartObservation, acceptsOlderDatabase: Bool) {
        let findings = observation.findings
        func with(_ consequence: StartFinding.Consequence) -> [StartFinding] {
            findings.filter { $0.code.consequence == consequence }
        }
        let refusals = with(.refusal)
        let losses = with(.refusalUnlessAccepted)
        if !refusals.isEmpty {
            self = .refuse(refusals)
        } else if !losses.isEmpty, !acceptsOlderDatabase {
            self = .refuse(losses)
        } else {
            self = .open(losses: losses + with(.recordedLoss), warnings: with(.warning))
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
