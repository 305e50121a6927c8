package import Vocabulary

/// When `status` reports keys that are in no verified backup.
package struct BackupPolicy: Hashable, Sendable {
    /// Whether the daemon creates backups at an interval. The daemon then reports an overdue backup by itself.
    package var isScheduled = false
    /// The severity becomes `warning` when this time has passed since ``BackupCoverage/notBackedUpSince``, but only if
    /// there is no verified backup at all; nil: never.
    package var warningAfter: Duration?
    /// The severity becomes `critical` when this time has passed since ``BackupCoverage/notBackedUpSince``; nil: never.
    /// Does not apply if ``isScheduled`` is true and there is a verified backup.
    package var criticalAfter: Duration?

    package init() {}

    /// - Returns: nil if there is nothing to report.
    package func severity(of coverage: BackupCoverage, at now: Timestamp) -> Severity? {
        guard let since = coverage.notBackedUpSince else { return nil }
        let hasBackup = coverage.hasVerifiedBackup
        guard !hasBackup || !isScheduled else { return nil }
        if let criticalAfter, since.adding(criticalAfter) <= now { return .critical }
        // If an admin creates the backups, it is normal that new keys are not in a backup yet.
        if !hasBackup, let warningAfter, since.adding(warningAfter) <= now { return .warning }
        return nil
    }
}
