import MerchantCore

/// Whether the daemon may start. Depends only on the ``StartObservation`` and the operator's flag.
///
/// The daemon decides twice: before it opens the database, and again afterwards, when ``StartObservation/content`` is
/// known.
package enum StartDecision: Equatable, Sendable {
    /// - Parameters:
    ///   - losses: what the database lacks. The daemon records it in the audit.
    ///   - warnings: what the daemon only logs.
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
