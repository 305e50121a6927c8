package import Vocabulary

extension Paths {
    package static let backups = "/v1/backups"
    package static let backupVerification = "/v1/backups/verification"
}

/// The body of `POST /v1/backups`, which creates a backup in a new file.
package struct BackupRequest: RequestBody {
    /// An absolute path on the daemon's machine.
    package let file: String

    package init(file: String) { self.file = file }
}

/// The body of `POST /v1/backups/verification`.
package struct BackupVerificationRequest: RequestBody {
    /// An absolute path on the daemon's machine.
    package let file: String
    /// Whether to append `.not-good` to the name of the file if the verification finds a problem; nil means no.
    package var renameIfNotGood: Bool?

    package init(file: String, renameIfNotGood: Bool? = nil) {
        (self.file, self.renameIfNotGood) = (file, renameIfNotGood)
    }
}

/// The description of a backup, from the manifest in the backup's file.
package struct BackupDocument: Codable, Hashable, Sendable {
    /// The path of the backup's file. If the request renamed the file, the new path.
    package let file: String
    package let createdAt: Timestamp
    /// The version of the daemon that created the backup.
    package let programVersion: String
    package var schemaVersion = 0
    package var databaseBytes = 0
    /// SHA-256 of the database in the backup, as lower-case hexadecimal.
    package let sha256: String
    /// The number of merchants.
    package var merchants = 0
    /// The number of key pairs in each state.
    package var keyPairs: [KeyState: Int] = [:]
    /// The number of certificates.
    package var certificates = 0
    package var auditHead: AuditHeadDocument?

    package init(_ file: String, createdAt: Timestamp, by programVersion: String, sha256: String) {
        (self.file, self.sha256) = (file, sha256)
        (self.createdAt, self.programVersion) = (createdAt, programVersion)
    }
}

/// The result of a backup's verification.
package struct BackupVerificationDocument: Codable, Hashable, Sendable {
    package let backup: BackupDocument
    /// Whether the verification found no problem.
    package let good: Bool
    /// The number of private keys that were decrypted and compared with their public keys.
    package var keyPairsVerified = 0
    package var certificatesChecked = 0
    package var auditRecordsChecked = 0
    /// How long the verification took.
    package var seconds = 0.0
    /// The problems found, at most 100; empty for a good backup.
    package let findings: [String]

    package init(_ backup: BackupDocument, findings: [String]) {
        (self.backup, self.findings, good) = (backup, findings, findings.isEmpty)
    }
}

/// What `status` reports about backups: the newest verified backup, and the merchants whose newest key pair is in no
/// verified backup.
package struct BackupCoverageDocument: Codable, Hashable, Sendable {
    /// When the newest verified backup was created, not when it was verified; nil if there is none. A backup with a
    /// creation time in the future does not count.
    package var lastVerified: Timestamp?
    /// If a verified backup has a creation time in the future, the latest such time; otherwise nil.
    package var verifiedInFuture: Timestamp?
    /// The path of the backup of `lastVerified`; nil if there is none.
    package var file: String?
    /// The number of merchants whose newest key pair is in no verified backup. Their older key pairs may be in a
    /// backup.
    package var merchantsWithoutBackup = 0
    /// The identifiers of the first 100 of these merchants, sorted by the creation of their newest key pairs, oldest
    /// first.
    package var withoutBackup: [MerchantIdentifier] = []

    package init() {}
}
