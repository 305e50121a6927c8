package import MerchantCore
import Vocabulary

/// The page of a new invitation. It shows the link once. If the page is loaded again, it says that the link was already
/// shown.
package struct InvitationCreatedPage: HTMLPage {
    private struct Content {
        let heading: String
        let url: String?
        let merchant: String
        let expires: TimeContent
        let id: String
        let note: String?
        let listPath = PortalPaths.invitations
    }

    private let invitation: Invitation
    private let url: String?

    package let area = PageArea.invitations
    package let template = PageTemplate.invitationCreated

    /// - Parameter url: the link, which contains the secret; nil if it was already shown or can no longer be shown.
    package init(_ invitation: Invitation, url: String?) {
        self.invitation = invitation
        self.url = url
    }

    package func title(_ text: PageText) -> String {
        text[url == nil ? .invitationCreatedShownTitle : .invitationCreatedTitle]
    }

    package func content(_ text: PageText) -> Any {
        Content(
            heading: title(text), url: url, merchant: invitation.merchantIdentifier.rawValue,
            expires: text.time(invitation.expiresAt),
            id: invitation.identifier.rawValue, note: invitation.note)
    }
}
