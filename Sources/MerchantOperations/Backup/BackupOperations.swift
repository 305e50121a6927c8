package import MerchantCore
package import Vocabulary

/// Creates and verifies backups.
package struct BackupOperations: Sendable {
    package typealias Records = Transactions<any DaemonStateReading, any DaemonStateWriting & ChangeRecording>

    private let records: Records
    private let service: any BackupManaging
    private let audit: AuditOperations
    private let findings: IntegrityFindings
    private let clock: any WallClock

    package init(
        records: Records, service: any BackupManaging, audit: AuditOperations, findings: IntegrityFindings,
        clock: any WallClock
    ) {
        self.records = records
        self.service = service
        self.audit = audit
        self.findings = findings
        self.clock = clock
    }

    /// The longest path of a backup, in bytes.
    package static let longestBackupPath = 4000

    /// Writes a backup to a new file on the daemon's machine. Other transactions can commit while the backup is
    /// written.
    package func createBackup(at path: String, for request: Request) async throws -> BackupManifest {
        try Self.check(path)
        let manifest = try await service.createBackup(at: path)
        let now = clock.now
        do {
            try await records.write { transaction in
                try transaction.record(manifest, at: path, verifiedAt: nil)
                try transaction.append(
                    request.auditEntry(
                        .backupCreated, at: now, after: "sha256=\(Hex.encode(manifest.sha256))", reason: path))
            }
        } catch {
            // No backup may exist that the audit does not record, so remove the file.
            await service.discard(path)
            throw error
        }
        return manifest
    }

    /// Verifies a backup file. If it is a backup of this database, the store records the backup: as verified if the
    /// verification finds no faults, otherwise as not verified, even if an earlier verification found no faults.
    ///
    /// - Parameter renamesIfNotGood: whether to append ``notGoodSuffix`` to the name of the file if the verification
    ///   finds a fault.
    package func verifyBackup(
        _ path: String, renamesIfNotGood: Bool = false, for request: Request
    ) async throws -> BackupVerificationResult {
        try Self.check(path)
        let verification = try await service.verify(
            path, renamingNotGoodTo: renamesIfNotGood ? path + Self.notGoodSuffix : nil)
        let manifest = verification.manifest
        // A backup of another database does not contain this database's keys, so it must not be recorded as verified.
        // A backup without audit records cannot be compared, and counts as a backup of this database.
        let isOfThisDatabase: Bool =
            if let head = manifest.auditHead { try await audit.difference(from: head) == nil } else { true }
        if isOfThisDatabase, let first = verification.findings.first {
            // The file has not changed since the backup was created, so this database had the same faults at that time.
            findings.note(
                MerchantError(
                    .keyDamaged,
                    "the verification of the backup \(verification.newPath ?? path) found \(verification.findings.count.counted("fault")). This database was faulty when the backup was created. The first fault: \(first)"
                ))
        }
        let now = clock.now
        try await records.write { transaction in
            if isOfThisDatabase {
                try transaction.record(
                    manifest, at: verification.newPath ?? path, verifiedAt: verification.findings.isEmpty ? now : nil)
            }
            try transaction.append(
                request.auditEntry(
                    .backupVerified, at: now,
                    after: "sha256=\(Hex.encode(manifest.sha256)) findings=\(verification.findings.count)",
                    reason: verification.newPath ?? path
                ))
        }
        return verification
    }

    /// The end of the name of a backup that failed its verification. A program that copies backups by the end of their
    /// names then does not copy this backup.
    package static let notGoodSuffix = ".not-good"

    /// The newest verified backup.
    ///
    /// - Parameter now: a backup that was created after this time is reported as a backup with a time in the future.
    package func backupCoverage(at now: Timestamp) async throws -> BackupCoverage {
        try await records.read { try $0.backupCoverage(at: now) }
    }

    /// Raises an event that the newest verified backup is too old. Does nothing if the last such event was about the
    /// same backup and had the same severity.
    ///
    /// - Parameter newestBackupTime: when the newest verified backup was created; nil if no backup was verified, or if
    ///   the time is unknown.
    package func reportOverdue(
        _ severity: Event.Severity, since newestBackupTime: Timestamp?, detail: String
    ) async throws {
        let reported = "\(newestBackupTime?.rfc3339 ?? "never") \(severity.rawValue)"
        guard try await records.read({ try $0.daemonValue(Self.overdueValueName) }) != reported else { return }
        let now = clock.now
        try await records.write { transaction in
            try transaction.setDaemonValue(Self.overdueValueName, reported)
            try transaction.append(Event(.backupOverdue, severity, at: now, detail: detail))
        }
    }

    /// The name of the stored value with the backup and the severity of the last event about an overdue backup.
    private static let overdueValueName = "backupOverdueReported"

    /// - Throws: `malformed` unless the path is absolute, at most ``longestBackupPath`` bytes long and without control
    ///   characters.
    private static func check(_ path: String) throws {
        guard path.hasPrefix("/") else {
            throw MerchantError(
                .malformed, "'file' is not an absolute path; give the absolute path of a file on the daemon's machine")
        }
        // Refuse control characters, because the path is shown in the audit and in `status`.
        _ = try DisplayText(path, named: "file", longest: longestBackupPath)
    }
}
