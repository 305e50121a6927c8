/// The changes of an access's secrets that a transaction must write.
package struct AccessSecretChanges {
    package private(set) var removed: [AccessSecret] = []
    /// The secrets that expire at another time than before.
    package private(set) var changed: [AccessSecret] = []
    /// Oldest first, because secrets are read in the descending order of their row ids.
    package private(set) var added: [AccessSecret] = []

    /// - Parameter before: the secrets that are stored; empty for a new access.
    package init(from before: [AccessSecret], to after: [AccessSecret]) {
        removed = before.filter { secret in !after.contains { $0.stored == secret.stored } }
        for secret in after.reversed() where !before.contains(secret) {
            if before.contains(where: { $0.stored == secret.stored }) {
                changed.append(secret)
            } else {
                added.append(secret)
            }
        }
    }
}
