package import Vocabulary

extension Paths {
    package static let accesses = "/v1/access"

    package static func access(_ name: AccessName) -> String { "\(accesses)/\(name)" }

    package static func accessRotation(_ name: AccessName) -> String { "\(access(name))/rotate" }

    package static func accessRevocation(_ name: AccessName) -> String { "\(access(name))/revoke" }
}

/// An access, as `GET /v1/access/{accessName}` returns it: a credential with which a machine may call the portal.
package struct AccessDocument: Codable, Hashable, Sendable {
    /// A token of the access, without its secret part.
    package struct Token: Codable, Hashable, Sendable {
        /// The part of the token that is not secret: the 8 characters after the prefix `mka_`.
        package let identifier: String
        package let createdAt: Timestamp
        /// When the token expires. Absent if the token expires only together with the access.
        package var expiresAt: Timestamp?

        package init(_ identifier: String, createdAt: Timestamp, expiresAt: Timestamp?) {
            (self.identifier, self.createdAt, self.expiresAt) = (identifier, createdAt, expiresAt)
        }
    }

    package let name: AccessName
    /// The new token. Present only in the response to the request that created the token: the daemon stores only a hash
    /// of the token. Absent if the caller authenticates with a client certificate.
    package var token: String?
    /// What the caller may do: `onboard`, `merchantSession`, `read`.
    package let permits: [String]
    /// The merchants that the permits apply to, sorted by identifier; absent for every merchant.
    package var merchants: [MerchantIdentifier]?
    /// The newest token and, after a rotation, the token before it, newest first. Empty if the caller authenticates
    /// with a client certificate.
    package var tokens: [Token] = []
    /// SHA-256 of the client certificate in DER, as lower-case hexadecimal; absent for an access with a token.
    package var certificateFingerprint: String?
    package let createdAt: Timestamp
    /// When the access expires; absent if it does not expire.
    package var expiresAt: Timestamp?
    /// Absent unless the access was revoked.
    package var revokedAt: Timestamp?
    /// When the access was last used, accurate to a minute; absent if it was never used.
    package var lastUsedAt: Timestamp?
    /// Why the access cannot be used yet. Present only in the response to the request that created the access.
    package var warnings: [String]?

    package init(_ name: AccessName, permits: [String], createdAt: Timestamp) {
        (self.name, self.permits, self.createdAt) = (name, permits, createdAt)
    }
}

/// The body of `POST /v1/access`.
package struct CreateAccessRequest: RequestBody {
    package let name: AccessName
    /// What the caller may do: `onboard`, `merchantSession`, `read`.
    package let permits: [String]
    /// The merchants that the permits apply to. The request has either this field or `allMerchants`.
    package var merchants: [MerchantIdentifier]?
    /// Whether the permits apply to every merchant, also to merchants that are added later.
    package var allMerchants: Bool?
    /// When the access expires; if absent, it does not expire.
    package var expiresAt: Timestamp?
    /// A certificate in PEM. If present, the caller authenticates with this client certificate, and gets no token.
    package var clientCertificate: String?

    package init(_ name: AccessName, permits: [String]) { (self.name, self.permits) = (name, permits) }
}

/// The body of `POST /v1/access/{accessName}/rotate`.
package struct RotateAccessRequest: RequestBody {
    /// How long the old token stays valid after the rotation; if absent, 24 hours.
    package var overlapSeconds: Int?

    package init() {}
}
