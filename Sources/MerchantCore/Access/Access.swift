package import Vocabulary

/// A machine that may call the portal, such as the backend of the platform's own merchant portal.
///
/// The machine authenticates either with an access token or with a client certificate.
package struct Access: Hashable, Sendable {
    /// How many secrets an access has at most: the new one and, during a rotation, the one before.
    package static let maximumSecrets = 2

    package let name: AccessName
    /// Some of ``PortalPermits/permitted``, at least one.
    package let permits: Set<Permit>
    /// The merchants that the permits apply to, at least one; nil for every merchant.
    package let merchants: Set<MerchantIdentifier>?
    /// The access tokens, newest first, at most ``maximumSecrets``. Empty for an access by client certificate.
    package var secrets: [AccessSecret]
    /// SHA-256 of the client certificate in DER; nil for an access by token.
    package let certificateFingerprint: Bits256?
    package let createdAt: Timestamp
    /// From this time on, the access is not valid; nil if the access does not expire.
    package var expiresAt: Timestamp?
    /// A revoked access stays revoked.
    package var revokedAt: Timestamp?
    package var lastUsedAt: Timestamp?

    package init(
        name: AccessName, permits: Set<Permit>, merchants: Set<MerchantIdentifier>?, secrets: [AccessSecret],
        certificateFingerprint: Bits256? = nil, createdAt: Timestamp, expiresAt: Timestamp? = nil,
        revokedAt: Timestamp? = nil, lastUsedAt: Timestamp? = nil
    ) {
        self.name = name
        self.permits = permits
        self.merchants = merchants
        self.secrets = secrets
        self.certificateFingerprint = certificateFingerprint
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.revokedAt = revokedAt
        self.lastUsedAt = lastUsedAt
    }
}

/// One access token of an ``Access``, as it is stored.
package struct AccessSecret: Hashable, Sendable {
    package let stored: StoredSecret
    package let createdAt: Timestamp
    /// From this time on, the token is not valid; nil if it is valid as long as its access.
    package var expiresAt: Timestamp?

    package init(stored: StoredSecret, createdAt: Timestamp, expiresAt: Timestamp?) {
        self.stored = stored
        self.createdAt = createdAt
        self.expiresAt = expiresAt
    }
}
