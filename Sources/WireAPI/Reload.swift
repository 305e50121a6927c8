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
    /// A setting that was changed in the file, and whose former value stays in force until a restart.
    package struct PendingSetting: Codable, Hashable, Sendable {
        package let name: String
        /// The value in force; absent if it may contain a secret.
        package var inForce: String?
        /// The value that a restart would take up; absent if it may contain a secret.
        package var configured: String?

        package init(_ name: String) { self.name = name }
    }

    package let dryRun: Bool
    /// The names of the settings that have other values now. `callers` and `events.webhooks` are one name each.
    package let changed: [String]
    package var needsRestart: [PendingSetting] = []
    /// What does not work although the settings are valid.
    package var warnings: [String] = []

    package init(dryRun: Bool, changed: [String]) {
        self.dryRun = dryRun
        self.changed = changed
    }
}
