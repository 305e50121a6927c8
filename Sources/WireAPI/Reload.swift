extension Paths {
    package static let reload = "/v1/reload"
}

/// The body of `POST /v1/reload`.
package struct ReloadRequest: RequestBody {
    package var dryRun: Bool?

    package init() {}
}

/// What a reload of the settings changed, or in a dry run would change.
package struct ReloadDocument: Codable, Hashable, Sendable {
    /// A value that has changed.
    package struct ChangedValue: Codable, Hashable, Sendable {
        /// The name of the setting. For a field in a list of mappings, the name contains the index of the entry:
        /// `callers.0.permits`.
        package let name: String
        /// Absent if there was no such entry, or if the value may contain a secret.
        package var before: String?
        /// Absent if there is no such entry any more, or if the value may contain a secret.
        package var after: String?

        package init(_ name: String) { self.name = name }
    }

    /// A setting that was changed in the file, and whose former value stays in force until a restart.
    package struct PendingSetting: Codable, Hashable, Sendable {
        package let name: String
        /// The value in force; absent if it may contain a secret.
        package var inForce: String?
        /// The value that a restart would apply; absent if it may contain a secret.
        package var configured: String?

        package init(_ name: String) { self.name = name }
    }

    package let dryRun: Bool
    /// The names of the settings that the reload applied, or in a dry run would apply. A change in a list of mappings
    /// is reported with the name of the list: `callers` or `events.webhooks`.
    package let changed: [String]
    /// The values of the changed settings.
    package var changes: [ChangedValue] = []
    package var needsRestart: [PendingSetting] = []
    /// Problems that exist although the settings are valid, one sentence each.
    package var warnings: [String] = []

    package init(dryRun: Bool, changed: [String]) {
        self.dryRun = dryRun
        self.changed = changed
    }
}
