package import MerchantCore
import Vocabulary
package import WireAPI

extension InvitationDocument {
    /// - Parameter url: the link, if this request created the invitation; nil for other requests.
    package init(_ invitation: Invitation, url: String? = nil) {
        self.init(
            invitation.identifier, of: invitation.merchantIdentifier, createdBy: invitation.createdBy,
            createdAt: invitation.createdAt, expiresAt: invitation.expiresAt)
        self.url = url
        note = invitation.note
        usedAt = invitation.usedAt
        revokedAt = invitation.revokedAt
    }
}
