package import Vocabulary

extension Paths {
    package static let invitations = "/v1/invitations"

    package static func invitationRevocation(_ identifier: InvitationIdentifier) -> String {
        "\(invitations)/\(identifier)/revoke"
    }

    /// The portal's page that opens an invitation.
    ///
    /// - Parameter secret: the text of the invitation's secret, which needs no percent-encoding.
    package static func invitationPage(_ secret: String) -> String { "/invitations/\(secret)" }
}

/// An invitation: a link with which a person at a merchant can sign in to the portal once, as
/// `GET /v1/invitations` lists it.
package struct InvitationDocument: Codable, Hashable, Sendable {
    package let invitationId: InvitationIdentifier
    package let merchantIdentifier: MerchantIdentifier
    /// The link for the merchant. Present only in the response to the request that created the invitation: the daemon
    /// stores only a hash of the link's secret.
    package var url: String?
    package var note: String?
    /// The name of the caller who created the invitation, such as `uid:1000` or `access:NAME`.
    package let createdBy: String
    package let createdAt: Timestamp
    package let expiresAt: Timestamp
    /// When someone signed in with the link; absent if nobody has.
    package var usedAt: Timestamp?
    /// Absent unless the invitation was revoked.
    package var revokedAt: Timestamp?

    package init(
        _ identifier: InvitationIdentifier, of merchant: MerchantIdentifier, createdBy caller: String,
        createdAt: Timestamp, expiresAt: Timestamp
    ) {
        (invitationId, merchantIdentifier, createdBy) = (identifier, merchant, caller)
        (self.createdAt, self.expiresAt) = (createdAt, expiresAt)
    }
}

/// The body of `POST /v1/invitations`.
package struct CreateInvitationRequest: RequestBody {
    package let merchantIdentifier: MerchantIdentifier
    /// When the link expires; if absent, 7 days after its creation.
    package var expiresAt: Timestamp?
    /// A text of 1 to 256 bytes for the people who list the invitations, such as the name of the recipient.
    package var note: String?

    package init(_ merchant: MerchantIdentifier) { merchantIdentifier = merchant }
}
