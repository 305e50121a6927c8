import Vocabulary

extension [NodeName] {
    /// The warning that these nodes may still use a key pair in its state before a change; empty if there are no such
    /// nodes.
    var staleNodeWarnings: [String] {
        guard !isEmpty else { return [] }
        return [
            "these daemons cannot reach the database, and may use the key in its previous state until the time in their setting 'store.postgresql.serve-stale' has passed: \(map(\.text).joined(separator: ", ")); if a key is compromised, stop them"
        ]
    }
}
