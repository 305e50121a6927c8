package import Vocabulary

/// When `status` reports keys that are in no verified backup.
package struct BackupPolicy: Hashable, Sendable {
    /// Whether the daemon creates backups at an interval. The daemon then reports an overdue backup by itself.
    package var isScheduled = false
    /// If there is no verified backup, the severity is `warning` when this time has passed since the first certificate
    /// was stored; nil: never.
    package var warningAfter: Duration?
    /// If a key with a certificate has been in no verified backup for this time, the severity is `critical`; nil:
    /// never.
    package var criticalAfter: Duration?

    package init() {}

    /// - Returns: nil if there is nothing to report.
    package func severity(of coverage: BackupCoverage, at now: Timestamp) -> Severity? {
        guard let since = coverage.notBackedUpSince else { return nil }
        let hasBackup = coverage.hasVerifiedBackup
        guard !hasBackup || !isScheduled else { return nil }
        if let criticalAfter, since.adding(criticalAfter) <= now { return .critical }
        // With backups by hand, a new key is not a reason to warn at once.
        if !hasBackup, let warningAfter, since.adding(warningAfter) <= now { return .warning }
        return nil
    }
}
