package import MerchantCore
import Vocabulary

/// The link of a new invitation. It is shown only on this page.
package struct InvitationCreatedPage: HTMLPage {
    private struct Content {
        let url: String
        let merchant: String
        let expires: TimeContent
        let id: String
        let note: String?
        let listPath = PortalPaths.invitations
    }

    private let invitation: Invitation
    private let url: String

    package let area = PageArea.invitations
    package let template = PageTemplate.invitationCreated
    package let status = 201

    /// - Parameter url: the link, which contains the secret.
    package init(_ invitation: Invitation, url: String) {
        self.invitation = invitation
        self.url = url
    }

    package func title(_ text: PageText) -> String { text[.invitationCreatedTitle] }

    package func content(_ text: PageText) -> Any {
        Content(
            url: url, merchant: invitation.merchantIdentifier.rawValue, expires: text.time(invitation.expiresAt),
            id: invitation.identifier.rawValue, note: invitation.note)
    }
}
