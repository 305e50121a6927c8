package import MerchantCore
import Synchronization

/// Faults in stored keys and in the audit. Kept until the daemon stops, because a fault is only found when the key is used.
package final class IntegrityFindings: Sendable {
    private static let mostNamed = 20

    private let found = Mutex<[StatusFinding]>([])

    package init() {}

    /// Keeps the error if it reports a damaged key. Called with every error.
    package func note(_ error: MerchantError) {
        if error.code == .keyDamaged { note(.keyDamaged, error.detail) }
    }

    func note(_ broken: AuditBreak) {
        note(
            .auditBroken,
            "the audit chain is broken: \(broken.detail); make a copy of the database first, then run 'audit verify' for the full list"
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
