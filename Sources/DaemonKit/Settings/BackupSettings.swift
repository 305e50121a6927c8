/// `backup`: scheduled backups.
package struct BackupSettings: Sendable, Hashable {
    package let directory: String
    package let interval: Duration
    /// How many scheduled backups are kept.
    package let keep: Int

    /// - Returns: nil if no directory is set.
    static func read(_ reader: SettingsReader) throws -> BackupSettings? {
        let directory = try reader.optional(
            "backup.directory", .absolutePath, whenUnset: "no scheduled backups",
            "The directory for scheduled backups, writable by the daemon's user.")
        let interval = try reader.value(
            "backup.every", .interval, default: "1d", "How often the daemon creates and verifies a backup.")
        let keep = try reader.value(
            "backup.keep", .integer(in: 1...10_000), default: "30", "How many scheduled backups the daemon keeps.")
        return directory.map { BackupSettings(directory: $0, interval: interval, keep: keep) }
    }
}
