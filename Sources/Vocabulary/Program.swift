/// What the three programs of this package have in common.
package enum Program {
    /// The version that `--version` and `status` show. The daemon also records it in the audit at each start.
    package static let version = "0.1.0"
}
