import MerchantCore

/// Whether the daemon may start. A pure function of what was observed.
///
/// A start decides twice: before it opens the database, and again when ``StartObservation/content`` is known.
package enum StartDecision: Equatable, Sendable {
    /// - Parameters:
    ///   - losses: what is missing from the database, for the audit.
    ///   - warnings: for the log.
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

    /// - Throws: ``StartRefusal``.
    func orRefusal() throws(StartRefusal) -> (losses: [StartFinding], warnings: [StartFinding]) {
        switch self {
        case .open(let losses, let warnings): (losses, warnings)
        case .refuse(let findings): throw StartRefusal(findings: findings)
        }
    }
}
