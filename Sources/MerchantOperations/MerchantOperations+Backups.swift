package import MerchantCore
import Vocabulary

extension MerchantOperations {
    /// The longest path of a backup, in bytes.
    package static let longestBackupPath = 4000

    /// Writes a backup to a new file on the daemon's machine. Changes go on meanwhile.
    package func createBackup(at path: String, for request: Request) async throws -> BackupManifest {
        let manifest = try await keeper(path).createBackup(at: path)
        let now = clock.now
        try await repository.write { transaction in
            try transaction.record(manifest, at: path, verifiedAt: nil)
            try transaction.append(
                request.entry(
                    .backupCreated, at: now, after: "sha256=\(Hex.encode(manifest.sha256))", reason: path))
        }
        return manifest
    }

    /// Tries a backup out; one that is good and was made on this chain counts as verified from then on.
    package func tryOutBackup(_ path: String, for request: Request) async throws -> BackupDrill {
        let drill = try await keeper(path).tryOut(path)
        let manifest = drill.manifest
        // A good backup of another database covers none of this one's keys.
        let isOurs: Bool =
            if let head = manifest.auditHead { try await difference(from: head) == nil } else { true }
        let now = clock.now
        try await repository.write { transaction in
            if isOurs, drill.findings.isEmpty { try transaction.record(manifest, at: path, verifiedAt: now) }
            try transaction.append(
                request.entry(
                    .backupVerified, at: now,
                    after: "sha256=\(Hex.encode(manifest.sha256)) findings=\(drill.findings.count)", reason: path))
        }
        return drill
    }

    private func keeper(_ path: String) throws -> any BackupKeeper {
        guard path.hasPrefix("/"), path.utf8.count <= Self.longestBackupPath,
            !path.unicodeScalars.contains(where: { $0.value < 32 || $0.value == 127 })
        else {
            throw MerchantError(
                .malformed,
                "'file' is no absolute path, expected one on the daemon's machine of at most \(Self.longestBackupPath) bytes"
            )
        }
        guard let backups else { throw MerchantError(.notYetAvailable, "this daemon makes no backups") }
        return backups
    }
}
