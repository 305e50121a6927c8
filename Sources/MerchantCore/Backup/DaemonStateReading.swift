package import Vocabulary

/// The port for what the daemon stores about itself, named facts and backups: what a transaction may read of it.
package protocol DaemonStateReading {
    func daemonFact(_ name: String) throws -> String?
    func backupCoverage() throws -> BackupCoverage
    /// Whether a verified backup holds the merchant's newest key pair; nil if the merchant has none.
    func isNewestKeyPairBackedUp(of merchant: MerchantIdentifier) throws -> Bool?
}

/// The port for what the daemon stores about itself, named facts and backups: what a transaction may also change.
package protocol DaemonStateWriting: DaemonStateReading {
    func setDaemonFact(_ name: String, _ value: String) throws
    /// Stores a backup. For one that is stored already, changes only its path, and unverified to verified.
    func record(_ manifest: BackupManifest, at path: String, verifiedAt: Timestamp?) throws
}
