/// Facts that the three programs of this package share.
package enum Program {
    /// Shown by `--version` and `status`, and recorded in the audit at each start.
    package static let version = "0.1.0"
}
