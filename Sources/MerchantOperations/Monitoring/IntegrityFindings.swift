package import MerchantCore
import Synchronization

/// The faults that the daemon has found in stored keys and in the audit.
///
/// They are kept until the daemon stops: a damaged key is noticed only when it is used, so it may not be noticed again
/// soon.
package final class IntegrityFindings: Sendable {
    /// Further findings of the same code are not kept.
    private static let mostNamed = 20

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
            guard !found.contains(finding), found.count(where: { $0.code == code }) < Self.mostNamed else { return }
            found.append(finding)
        }
    }

    var findings: [StatusFinding] { found.withLock { $0 } }
}
