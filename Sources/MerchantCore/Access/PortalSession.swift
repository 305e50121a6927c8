package import Vocabulary

/// A signed-in browser. A cookie contains the secret of the session.
package struct PortalSession: Hashable, Sendable {
    /// Who is signed in.
    package enum Holder: Hashable, Sendable {
        /// A person at the merchant, who used the invitation.
        case invitation(InvitationIdentifier, MerchantIdentifier)
        /// The user who ran `merchantkeyctl console`, with the groups that the user had then.
        case operating(uid: UInt32, groups: Set<UInt32>)
    }

    /// How long a session stays valid without a request.
    package static let idleLimit: Duration = .seconds(30 * 60)
    /// How long a session stays valid in all.
    package static let longestLife: Duration = .seconds(12 * 60 * 60)

    package let secret: StoredSecret
    package let holder: Holder
    package let createdAt: Timestamp
    package var lastSeenAt: Timestamp

    package init(secret: StoredSecret, holder: Holder, createdAt: Timestamp, lastSeenAt: Timestamp) {
        self.secret = secret
        self.holder = holder
        self.createdAt = createdAt
        self.lastSeenAt = lastSeenAt
    }

    /// Whether the session has passed neither of its two limits.
    package func isValid(at now: Timestamp) -> Bool {
        lastSeenAt.adding(Self.idleLimit) > now && createdAt.adding(Self.longestLife) > now
    }
}
