import Vocabulary

extension [NodeName] {
    /// The warning that these nodes may still use a key pair as it was before a change; none if there are no such nodes.
    var staleNodeWarnings: [String] {
        guard !isEmpty else { return [] }
        return [
            "these daemons cannot reach the database, and may use the key as it was before until their 'store.postgresql.serve-stale' has passed: \(map(\.text).joined(separator: ", ")); if a key is compromised, stop them"
        ]
    }
}
