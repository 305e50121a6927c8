package import Vocabulary

/// Reads what the daemon stores about itself: named texts, such as `confirmedTime`, and records of backups.
package protocol DaemonStateReading {
    /// The text that is stored under this name (table `daemon_values`); nil if there is none.
    func daemonValue(_ name: String) throws -> String?
    /// The newest verified backup, and the merchants whose newest key pair is in no verified backup.
    ///
    /// - Parameter now: the present time. A backup with a later time of creation counts as a backup from the future.
    func backupCoverage(at now: Timestamp) throws -> BackupCoverage
}

/// Reads and changes what the daemon stores about itself: named texts, and records of backups.
package protocol DaemonStateWriting: DaemonStateReading {
    /// Stores a text under this name. Replaces the earlier text.
    func setDaemonValue(_ name: String, _ value: String) throws
    /// Stores the record of a backup. If a record with the same SHA-256 exists, changes only its path and its time of
    /// verification.
    ///
    /// - Parameter verifiedAt: the time of the last verification if it found no fault; otherwise nil, also if the
    ///   backup was never verified.
    func record(_ manifest: BackupManifest, at path: String, verifiedAt: Timestamp?) throws
}
