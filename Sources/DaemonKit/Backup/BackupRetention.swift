package import Vocabulary

/// Decides which scheduled backups are kept.
package struct BackupRetention {
    private static let prefix = "merchantkeyd-"
    private static let suffix = ".backup"

    /// The least number that is kept.
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

    /// The backups to remove: those beyond the number that is kept, if enough time has passed for that many newer ones. When the
    /// clock jumps ahead, backups are made early, and they must not replace the older ones.
    ///
    /// - Parameters:
    ///   - backups: oldest first, none from the future.
    ///   - now: by the confirmed time.
    package func expired(among backups: [String], at now: Timestamp) -> [String] {
        // Half an interval less, so that a backup that took long does not keep another.
        let limit = Self.name(at: now.adding(.zero - every * keep + every / 2))
        return backups.dropLast(keep).filter { $0 <= limit }
    }
}
