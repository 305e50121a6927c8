package import MerchantCore
package import Vocabulary

extension MerchantOperations {
    /// The longest path of a backup, in bytes.
    package static let longestBackupPath = 4000

    /// Writes a backup to a new file on the daemon's machine. Changes go on meanwhile.
    package func createBackup(at path: String, for request: Request) async throws -> BackupManifest {
        let keeper = try keeper(path)
        let manifest = try await keeper.createBackup(at: path)
        let now = clock.now
        do {
            try await repository.write { transaction in
                try transaction.record(manifest, at: path, verifiedAt: nil)
                try transaction.append(
                    request.entry(
                        .backupCreated, at: now, after: "sha256=\(Hex.encode(manifest.sha256))", reason: path))
            }
        } catch {
            // No copy that no record tells of.
            await keeper.discard(path)
            throw error
        }
        return manifest
    }

    /// Tries a backup out; one that is good and was made on this chain counts as verified from then on.
    package func verifyBackup(_ path: String, for request: Request) async throws -> BackupVerificationResult {
        let verification = try await keeper(path).verify(path)
        let manifest = verification.manifest
        // A good backup of another database covers none of this one's keys.
        let isOurs: Bool =
            if let head = manifest.auditHead { try await difference(from: head) == nil } else { true }
        if isOurs, let first = verification.findings.first {
            // The copy is as it was made, so the database was so by then.
            damage.note(
                MerchantError(
                    .keyDamaged,
                    "the trial of \(path) found \(verification.findings.count) damaged things in this database, the first: \(first)"
                ))
        }
        let now = clock.now
        try await repository.write { transaction in
            if isOurs, verification.findings.isEmpty { try transaction.record(manifest, at: path, verifiedAt: now) }
            try transaction.append(
                request.entry(
                    .backupVerified, at: now,
                    after: "sha256=\(Hex.encode(manifest.sha256)) findings=\(verification.findings.count)", reason: path
                ))
        }
        return verification
    }

    /// Raises an event, once for each backup that grew too old and once more when that is critical.
    ///
    /// - Parameter last: when the last good backup was made; nil for never.
    package func tellBackupOverdue(
        _ severity: Event.Severity, since last: Timestamp?, detail: String
    ) async throws {
        let fact = "\(last?.rfc3339 ?? "never") \(severity.rawValue)"
        guard try await repository.read({ try $0.daemonFact(Self.overdueFact) }) != fact else { return }
        let now = clock.now
        try await repository.write { transaction in
            try transaction.setDaemonFact(Self.overdueFact, fact)
            try transaction.append(Event(.backupOverdue, severity, at: now, detail: detail))
        }
    }

    /// Raises an event with the audit's head, so that webhooks take it off the machine.
    package func tellAuditHead(_ head: AuditHead) async throws {
        let now = clock.now
        try await repository.write {
            try $0.append(
                Event(
                    .auditHead, .notice, at: now,
                    detail:
                        "\(head) is the audit's head: keep it; 'audit verify --head \(head)' tells whether it still holds"
                ))
        }
    }

    /// What was last told of a backup that is too old.
    private static let overdueFact = "backupOverdueTold"

    private func keeper(_ path: String) throws -> any BackupVerifying {
        guard path.hasPrefix("/") else {
            throw MerchantError(.malformed, "'file' is no absolute path, expected one on the daemon's machine")
        }
        // The path is shown in the audit and in status.
        _ = try DisplayText(path, named: "file", longest: Self.longestBackupPath)
        guard let backups else { throw MerchantError(.notYetAvailable, "this daemon makes no backups") }
        return backups
    }
}
