package import Vocabulary

/// The manifest of a backup. It is the last line of the backup's file.
package struct BackupManifest: Hashable, Sendable {
    package var createdAt: Timestamp
    /// The version of the program that created the backup.
    package var programVersion: String
    package var schemaVersion: Int
    /// The length of the database in the backup's file, in bytes. `sha256` is the hash of these bytes.
    package var databaseBytes: Int
    package var sha256: [UInt8]
    /// The number of merchants.
    package var merchants: Int
    /// The number of key pairs in each state.
    package var keyPairs: [KeyState: Int]
    /// The number of certificates.
    package var certificates: Int
    package var auditHead: AuditHead?
    /// The highest row id of a key pair in the backup. Key pairs with a higher id are not in the backup.
    package var newestKeyPairId: Int

    package init(
        createdAt: Timestamp, programVersion: String, schemaVersion: Int, databaseBytes: Int, sha256: [UInt8],
        merchants: Int, keyPairs: [KeyState: Int], certificates: Int, auditHead: AuditHead?, newestKeyPairId: Int
    ) {
        self.createdAt = createdAt
        self.programVersion = programVersion
        self.schemaVersion = schemaVersion
        self.databaseBytes = databaseBytes
        self.sha256 = sha256
        self.merchants = merchants
        self.keyPairs = keyPairs
        self.certificates = certificates
        self.auditHead = auditHead
        self.newestKeyPairId = newestKeyPairId
    }
}

/// The result of verifying a backup.
package struct BackupVerificationResult: Sendable {
    package let manifest: BackupManifest
    /// The number of private keys that were decrypted and match their public keys.
    package let keyPairsVerified: Int
    package let certificatesChecked: Int
    package let auditRecordsChecked: Int
    /// The duration of the verification.
    package let seconds: Double
    /// The problems found, at most 100; empty for a valid backup.
    package let findings: [String]
    /// The path that the file has now, if it was renamed because the backup is not good; otherwise nil.
    package var newPath: String?
    /// Why the file could not be renamed; nil if it was renamed, or did not have to be.
    package var renameFailure: String?

    package init(
        manifest: BackupManifest, keyPairsVerified: Int, certificatesChecked: Int, auditRecordsChecked: Int,
        seconds: Double, findings: [String]
    ) {
        self.manifest = manifest
        self.keyPairsVerified = keyPairsVerified
        self.certificatesChecked = certificatesChecked
        self.auditRecordsChecked = auditRecordsChecked
        self.seconds = seconds
        self.findings = findings
    }
}

/// Which keys are backed up: the newest verified backup, and the merchants whose newest key pair is in no verified
/// backup.
package struct BackupCoverage: Hashable, Sendable {
    /// When the newest verified backup was created: of the verified backups with the most key pairs, the one with the
    /// latest time. nil if there is none. A backup with a time in the future does not count here, because its age is
    /// unknown.
    package var newestVerifiedCreatedAt: Timestamp?
    package var newestVerifiedPath: String?
    /// The latest creation time of the verified backups with a time in the future; nil if there is no such backup. The
    /// machine's clock was ahead when such a backup was created.
    package var verifiedInFuture: Timestamp?
    /// The number of merchants whose newest key pair is in no verified backup.
    package var merchantsAwaitingBackup = 0
    /// When the first certificate was stored for the oldest key pair that has a certificate, is in no verified backup
    /// and is not destroyed. Nil if there is no such key pair.
    package var notBackedUpSince: Timestamp?
    /// The first ``maximumNamed`` merchants whose newest key pair is in no verified backup, sorted by the creation of
    /// these key pairs, oldest first.
    package var firstMerchantsAwaitingBackup: [MerchantIdentifier] = []

    package static let maximumNamed = 100

    package init() {}

    /// Whether any backup was verified, also one with a time in the future.
    package var hasVerifiedBackup: Bool { newestVerifiedCreatedAt != nil || verifiedInFuture != nil }
}

/// Creates and verifies backups.
package protocol BackupManaging: Sendable {
    /// Writes a backup to a new file, which is on stable storage on return. Never replaces an existing file. Other
    /// transactions can commit meanwhile.
    ///
    /// - Throws: `backupFailed` or `storeUnavailable`, with the reason.
    func createBackup(at path: String) async throws -> BackupManifest
    /// Restores the backup to a temporary copy, checks the private keys, certificates and audit chain in the copy, and
    /// removes the copy. Never changes the backup.
    ///
    /// - Parameter newPath: the path to which the file is renamed if the verification finds a fault. An existing file
    ///   of that name is replaced. nil: the file keeps its name.
    func verify(_ path: String, renamingNotGoodTo newPath: String?) async throws -> BackupVerificationResult
    /// Removes the file of a backup that could not be recorded in the store.
    func discard(_ path: String) async
}

/// Decrypts the private keys and parses the certificates that a backup contains, to check them.
package protocol KeyPairVerifier: Sendable {
    /// Decrypts the private key and compares it with the public key.
    ///
    /// - Throws: `keyDamaged`, naming the publicKeyHash.
    func verifyPrivateKey(of stored: SealedKeyPair) throws
    /// - Parameter certificate: DER or PEM.
    func readCertificate(_ certificate: [UInt8]) throws -> CertificateFacts
}
