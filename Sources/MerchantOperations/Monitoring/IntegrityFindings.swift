package import MerchantCore
import Synchronization

/// The faults that the daemon has found in stored keys and in the audit.
///
/// Faults are kept until the daemon stops, because a damaged key is noticed only when a request uses the key, and the
/// next such request may come much later.
package final class IntegrityFindings: Sendable {
    /// At most this many findings with the same code are kept.
    private static let maximumFindingsPerCode = 20

    private let found = Mutex<[StatusFinding]>([])

    package init() {}

    /// Keeps the error if it reports a damaged key. The servers call this with every error.
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
            guard !found.contains(finding), found.count(where: { $0.code == code }) < Self.maximumFindingsPerCode else {
                return
            }
            found.append(finding)
        }
    }

    var findings: [StatusFinding] { found.withLock { $0 } }
}
