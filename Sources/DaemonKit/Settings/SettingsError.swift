/// Why the daemon or a subcommand cannot run with its settings and files: what failed, why, and what to do.
package struct SettingsError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
