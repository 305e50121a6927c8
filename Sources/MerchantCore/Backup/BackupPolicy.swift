package import Vocabulary

/// When `status` reports keys that are in no verified backup.
package struct BackupPolicy: Hashable, Sendable {
    /// Whether the daemon creates backups at an interval. The daemon then reports an overdue backup by itself.
    package var isScheduled = false
    /// How long after the first certificate was stored a missing backup is a warning; nil: never.
    package var warningAfter: Duration?
    /// How long a key with a certificate may be in no verified backup until this is critical; nil: forever.
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
