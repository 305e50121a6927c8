package import MerchantCore
import Synchronization

/// What was found not to be what was stored. Kept until the end of the process: nobody else will tell before somebody asks for
/// that key again.
package final class IntegrityFindings: Sendable {
    private static let mostNamed = 20

    private let found = Mutex<[StatusFinding]>([])

    package init() {}

    /// To be told of every refusal; keeps those for damage.
    package func note(_ error: MerchantError) {
        if error.code == .keyDamaged { note(.keyDamaged, error.detail) }
    }

    func note(_ broken: AuditBreak) {
        note(
            .auditBroken,
            "the audit chain does not hold: \(broken.detail); 'audit verify' names every place, keep a copy of the database before anything else"
        )
    }

    private func note(_ code: StatusFinding.Code, _ detail: String) {
        let finding = StatusFinding(severity: .critical, code: code, detail: detail)
        found.withLock { found in
            guard !found.contains(finding), found.count(where: { $0.code == code }) < Self.mostNamed else { return }
            found.append(finding)
        }
    }

    var findings: [StatusFinding] { found.withLock { $0 } }
}
