package import MerchantCore
package import Vocabulary

/// Creates and verifies backups.
package struct BackupOperations: Sendable {
    package typealias Records = Transactions<any DaemonStateReading, any DaemonStateWriting & ChangeRecording>

    private let records: Records
    /// nil if this daemon creates no backups.
    private let backups: (any BackupVerifying)?
    private let audit: AuditOperations
    private let findings: IntegrityFindings
    private let clock: any WallClock

    package init(
        records: Records, backups: (any BackupVerifying)?, audit: AuditOperations, findings: IntegrityFindings,
        clock: any WallClock
    ) {
        self.records = records
        self.backups = backups
        self.audit = audit
        self.findings = findings
        self.clock = clock
    }

    /// The longest path of a backup, in bytes.
    package static let longestBackupPath = 4000

    /// Writes a backup to a new file on the daemon's machine. Other transactions can commit meanwhile.
    package func createBackup(at path: String, for request: Request) async throws -> BackupManifest {
        let service = try self.service(for: path)
        let manifest = try await service.createBackup(at: path)
        let now = clock.now
        do {
            try await records.write { transaction in
                try transaction.record(manifest, at: path, verifiedAt: nil)
                try transaction.append(
                    request.entry(
                        .backupCreated, at: now, after: "sha256=\(Hex.encode(manifest.sha256))", reason: path))
            }
        } catch {
            // No backup may exist that the audit does not record, so remove the file.
            await service.discard(path)
            throw error
        }
        return manifest
    }

    /// Verifies a backup file. If it is a backup of this database and has no faults, the store records it as verified.
    package func verifyBackup(_ path: String, for request: Request) async throws -> BackupVerificationResult {
        let verification = try await self.service(for: path).verify(path)
        let manifest = verification.manifest
        // A backup of another database contains none of this one's keys, so it must not be recorded as verified.
        let isOwn: Bool =
            if let head = manifest.auditHead { try await audit.difference(from: head) == nil } else { true }
        if isOwn, let first = verification.findings.first {
            // The file has not changed since it was created, so the database itself had these faults then.
            findings.note(
                MerchantError(
                    .keyDamaged,
                    "the verification of \(path) found \(verification.findings.count) faults in this database, the first: \(first)"
                ))
        }
        let now = clock.now
        try await records.write { transaction in
            if isOwn, verification.findings.isEmpty { try transaction.record(manifest, at: path, verifiedAt: now) }
            try transaction.append(
                request.entry(
                    .backupVerified, at: now,
                    after: "sha256=\(Hex.encode(manifest.sha256)) findings=\(verification.findings.count)", reason: path
                ))
        }
        return verification
    }

    /// When the newest verified backup was created; nil if there is none.
    package func lastVerified() async throws -> Timestamp? {
        try await records.read { try $0.backupCoverage() }.lastVerified
    }

    /// Raises an event that the newest verified backup is too old. A repeat for the same backup and severity raises
    /// none.
    ///
    /// - Parameter last: when the newest verified backup was created; nil if there is none.
    package func reportOverdue(
        _ severity: Event.Severity, since last: Timestamp?, detail: String
    ) async throws {
        let fact = "\(last?.rfc3339 ?? "never") \(severity.rawValue)"
        guard try await records.read({ try $0.daemonFact(Self.overdueFact) }) != fact else { return }
        let now = clock.now
        try await records.write { transaction in
            try transaction.setDaemonFact(Self.overdueFact, fact)
            try transaction.append(Event(.backupOverdue, severity, at: now, detail: detail))
        }
    }

    /// The name of the stored fact with the backup and the severity of the last event about an overdue backup.
    private static let overdueFact = "backupOverdueReported"

    private func service(for path: String) throws -> any BackupVerifying {
        guard path.hasPrefix("/") else {
            throw MerchantError(
                .malformed, "'file' is not an absolute path; give the absolute path of a file on the daemon's machine")
        }
        // Refuse control characters, because the path is shown in the audit and in `status`.
        _ = try DisplayText(path, named: "file", longest: Self.longestBackupPath)
        guard let backups else {
            throw MerchantError(.notYetAvailable, "this daemon has no backups: set 'backup.directory' and restart it")
        }
        return backups
    }
}
