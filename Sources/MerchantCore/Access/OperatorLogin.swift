package import Vocabulary

/// Lets an operator begin one session at the portal. `merchantkeyctl console` prints a URL that contains the secret.
package struct OperatorLogin: Hashable, Sendable {
    /// How long a login is valid.
    package static let life: Duration = .seconds(60)

    package let secret: StoredSecret
    /// The user who ran `merchantkeyctl console`, and the groups that the user had then.
    package let uid: UInt32
    package let groups: Set<UInt32>
    package let createdAt: Timestamp
    /// From this time on, the login begins no session.
    package let expiresAt: Timestamp
    /// When the login began its only session.
    package var usedAt: Timestamp?

    package init(
        secret: StoredSecret, uid: UInt32, groups: Set<UInt32>, createdAt: Timestamp, expiresAt: Timestamp,
        usedAt: Timestamp? = nil
    ) {
        self.secret = secret
        self.uid = uid
        self.groups = groups
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.usedAt = usedAt
    }
}
