package import MerchantCore
import Vocabulary

/// Asks an operator whether to revoke an invitation.
package struct InvitationRevocationPage: HTMLPage {
    private let invitation: Invitation

    package let area = PageArea.invitations
    package let template = PageTemplate.confirm

    package init(_ invitation: Invitation) { self.invitation = invitation }

    package func title(_ text: PageText) -> String { text[.revokeInvitationTitle] }

    package func content(_ text: PageText) -> Any {
        var facts = [
            ConfirmationContent.Fact(label: text[.opsMerchant], value: invitation.merchantIdentifier.rawValue),
            ConfirmationContent.Fact(label: text[.invitationsId], value: invitation.identifier.rawValue),
        ]
        if let note = invitation.note {
            facts.append(ConfirmationContent.Fact(label: text[.invitationsNote], value: note))
        }
        return ConfirmationContent(
            heading: text[.revokeInvitationTitle], facts: facts, paragraphs: [text[.revokeInvitationBody]],
            path: PortalPaths.invitationRevocation(invitation.identifier), fields: [], isDangerous: true,
            button: text[.revokeInvitationButton], cancelPath: PortalPaths.invitations,
            cancel: text[.revokeInvitationCancel])
    }
}
