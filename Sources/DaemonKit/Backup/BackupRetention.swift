package import Vocabulary

/// Decides which scheduled backups are kept.
package struct BackupRetention {
    private static let prefix = "merchantkeyd-"
    private static let suffix = ".backup"

    /// The smallest number of backups to keep.
    let keep: Int
    /// The interval between two backups.
    let every: Duration

    package init(keep: Int, every: Duration) {
        self.keep = keep
        self.every = every
    }

    /// The name of a backup's file. Names sort by time.
    package static func name(at time: Timestamp) -> String {
        prefix + time.rfc3339.filter { $0 != "-" && $0 != ":" } + suffix
    }

    /// The scheduled backups among a directory's files, oldest first.
    package static func backups(among names: [String]) -> [String] {
        names.filter { $0.hasPrefix(prefix) && $0.hasSuffix(suffix) }.sorted()
    }

    /// Returns the backups to remove. A backup is removed if ``keep`` newer ones exist and it is about ``keep``
    /// intervals old. The age matters when the clock jumps ahead: new backups are then created too early, and must not
    /// replace the older ones.
    ///
    /// - Parameters:
    ///   - backups: the names of the files, oldest first, none with a time in the future.
    ///   - now: the confirmed time.
    package func expired(among backups: [String], at now: Timestamp) -> [String] {
        // Half an interval less is enough, so that a newer backup that was created late does not delay the removal.
        let limit = Self.name(at: now.adding(.zero - every * keep + every / 2))
        return backups.dropLast(keep).filter { $0 <= limit }
    }
}
