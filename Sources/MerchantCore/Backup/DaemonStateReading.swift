package import Vocabulary

/// Reads what the daemon stores about itself: facts, which are texts with a name, and backups.
package protocol DaemonStateReading {
    func daemonFact(_ name: String) throws -> String?
    func backupCoverage() throws -> BackupCoverage
    /// Whether a verified backup contains the merchant's newest key pair; nil if the merchant has no key pair.
    func isNewestKeyPairBackedUp(of merchant: MerchantIdentifier) throws -> Bool?
}

/// Reads and changes what the daemon stores about itself: facts, which are texts with a name, and backups.
package protocol DaemonStateWriting: DaemonStateReading {
    func setDaemonFact(_ name: String, _ value: String) throws
    /// Stores the record of a backup. If a record with the same SHA-256 exists, changes only its path, and from
    /// unverified to verified.
    func record(_ manifest: BackupManifest, at path: String, verifiedAt: Timestamp?) throws
}
