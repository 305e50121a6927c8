import MerchantCore
import Vocabulary

/// `backup`: scheduled backups.
package struct BackupSettings: Sendable, Hashable {
    package let directory: String
    package let interval: Duration
    /// How many scheduled backups are kept at least.
    package let keep: Int

    /// - Returns: nil if no directory is set.
    static func read(_ reader: SettingsReader) throws -> BackupSettings? {
        let directory = reader.optional(
            "backup.directory", .absolutePath, whenUnset: "no scheduled backups",
            "The directory for scheduled backups, writable by the daemon's user.")
        let interval = reader.value(
            "backup.every", .interval, default: "1d", "How often the daemon creates and verifies a backup.")
        let keep = reader.value(
            "backup.keep", .integer(in: 1...10_000), default: "30", "How many scheduled backups the daemon keeps.")
        if let directory { return BackupSettings(directory: directory, interval: interval, keep: keep) }
        for name in ["backup.every", "backup.keep"] where reader.isSet(name) {
            throw SettingsError(
                "'\(name)' is set, but has an effect only with 'backup.directory'; set that or remove '\(name)'")
        }
        return nil
    }
}

/// `backup.missing`: when `status` reports keys that are in no verified backup.
extension BackupPolicy {
    /// By default, only a production daemon reports such keys.
    init(reading reader: SettingsReader, environment: Environment, isScheduled: Bool) {
        self.init()
        self.isScheduled = isScheduled
        warningAfter = Self.delay(
            reader, "backup.missing.warn-after", inProduction: "0s", environment,
            "If no verified backup exists this long after the first certificate was stored, status warns; or never.")
        criticalAfter = Self.delay(
            reader, "backup.missing.critical-after", inProduction: "7d", environment,
            "How long a key with a certificate may be in no verified backup until status is critical, or never.")
    }

    /// Changes the defaults to `never`: for a daemon on PostgreSQL without scheduled backups, whose operator backs up
    /// the server.
    mutating func reportNothingByDefault(_ reader: SettingsReader) {
        func reset(_ name: String, _ delay: inout Duration?) {
            guard !reader.isSet(name) else { return }
            delay = nil
            reader.showDefault("never", of: name)
        }
        reset("backup.missing.warn-after", &warningAfter)
        reset("backup.missing.critical-after", &criticalAfter)
    }

    private static func delay(
        _ reader: SettingsReader, _ name: String, inProduction standard: String, _ environment: Environment,
        _ summary: String
    ) -> Duration? {
        let format = SettingFormat<Duration?>.durationOrNever
        let fallback = environment == .production ? standard : "never"
        if let delay = reader.optional(
            name, format, whenUnset: "\(standard) in production, else never", summary)
        {
            return delay
        }
        reader.showDefault(fallback, of: name)
        return format.parse(fallback).flatMap { $0 }
    }
}

extension SettingFormat where Value == Duration? {
    /// A duration from 0s to 365d, or the word never, for which the value is nil.
    fileprivate static var durationOrNever: Self {
        Self(expectation: "\(DurationText.expectation), from 0s to 365d, or never") { text -> Duration?? in
            if text == "never" { return .some(nil) }
            guard let seconds = DurationText.seconds(text), seconds <= 31_536_000 else { return nil }
            return .some(.seconds(seconds))
        }
    }
}
