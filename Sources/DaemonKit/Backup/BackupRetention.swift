package import Vocabulary

/// Decides which scheduled backups are kept.
package struct BackupRetention {
    private static let prefix = "merchantkeyd-"
    private static let suffix = ".backup"

    /// The smallest number of backups to keep.
    let keep: Int
    /// The interval at which backups are created.
    let interval: Duration

    package init(keep: Int, interval: Duration) {
        self.keep = keep
        self.interval = interval
    }

    /// The name of a backup's file. Names sort by time.
    package static func name(at time: Timestamp) -> String {
        prefix + time.rfc3339.filter { $0 != "-" && $0 != ":" } + suffix
    }

    /// The scheduled backups among a directory's files, oldest first.
    package static func backups(among names: [String]) -> [String] {
        names.filter { $0.hasPrefix(prefix) && $0.hasSuffix(suffix) }.sorted()
    }

    /// Returns the backups to remove: those that have at least ``keep`` newer backups and whose age is about ``keep``
    /// intervals or more. The age matters if the clock is set ahead: new backups are then created too early, and must
    /// not replace older ones.
    ///
    /// - Parameters:
    ///   - backups: the names of the files, oldest first, none with a time in the future.
    ///   - now: the confirmed time.
    package func expired(among backups: [String], at now: Timestamp) -> [String] {
        // The required age is half an interval less. Otherwise a backup that was created a little late would be kept
        // for one more interval.
        let limit = Self.name(at: now.adding(.zero - interval * keep + interval / 2))
        return backups.dropLast(keep).filter { $0 <= limit }
    }
}
