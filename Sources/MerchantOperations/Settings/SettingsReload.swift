/// What a reload of the settings changed, or in a dry run would change.
package struct SettingsReload: Hashable, Sendable {
    /// A value that has changed.
    package struct Change: Hashable, Sendable {
        /// The name of the setting. In a list of mappings, the name contains the index of the entry and the field:
        /// `callers.0.permits`.
        package let name: String
        /// Nil if there was no such entry, or if the value may contain a secret.
        package let before: String?
        /// Nil if there is no such entry any more, or if the value may contain a secret.
        package let after: String?

        package init(name: String, before: String?, after: String?) {
            self.name = name
            self.before = before
            self.after = after
        }
    }

    /// A setting that was changed in the file, and whose former value stays in force until a restart.
    package struct Pending: Hashable, Sendable {
        package let name: String
        /// The value in force, and the value that will take effect at a restart. Nil if the values may contain a
        /// secret.
        package let values: Values?

        package init(name: String, values: Values?) {
            self.name = name
            self.values = values
        }
    }

    package struct Values: Hashable, Sendable {
        package let inForce: String
        package let configured: String

        package init(inForce: String, configured: String) {
            self.inForce = inForce
            self.configured = configured
        }
    }

    /// The names of the settings that have other values now. `callers` and `events.webhooks` are one name each.
    package var changed: [String]
    /// The values of the ``changed`` settings.
    package var changes: [Change]
    package var needsRestart: [Pending]
    /// What does not work although the settings are valid, such as a directory for backups that does not exist.
    package var warnings: [String]

    package init(
        changed: [String] = [], changes: [Change] = [], needsRestart: [Pending] = [], warnings: [String] = []
    ) {
        self.changed = changed
        self.changes = changes
        self.needsRestart = needsRestart
        self.warnings = warnings
    }
}

/// Reloads the settings for a request; with `dryRun`, only checks them.
///
/// - Throws: `settingsInvalid` with every problem; then nothing has changed.
package typealias ReloadSettings = @Sendable (_ dryRun: Bool, Request) async throws -> SettingsReload
