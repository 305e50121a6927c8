package import MerchantCore
package import MerchantOperations
import Vocabulary

/// The page that the link of an open invitation shows. Only its button begins a session, because mail programs open
/// links to scan them.
package struct InvitationPage: HTMLPage {
    private let invitation: Invitation
    private let path: String

    package let area = PageArea.entry
    package let template = PageTemplate.message

    /// - Parameter path: the path of the link, to which the button posts.
    package init(_ invitation: Invitation, path: String) {
        self.invitation = invitation
        self.path = path
    }

    package func title(_ text: PageText) -> String { text[.invitationTitle] }

    package func content(_ text: PageText) -> Any {
        var content = MessageContent(text[.invitationTitle])
        content.lead = text.filled(.invitationLead, ["merchant": invitation.merchantIdentifier.rawValue])
        content.paragraphs = [
            text[.invitationOnce],
            text.filled(.invitationValid, ["time": text.time(invitation.expiresAt).text]),
        ]
        content.form = MessageContent.Form(path: path, button: text[.invitationButton])
        return content
    }
}

/// The page for a link that cannot begin a session, because its invitation is used, expired, revoked or unknown.
package struct InvitationRefusedPage: HTMLPage {
    package enum Reason: String, Sendable, CaseIterable {
        case used, expired, revoked, unknown
    }

    private let reason: Reason

    package let area = PageArea.entry
    package let template = PageTemplate.message
    package let isProblem = true

    package init(_ reason: Reason) { self.reason = reason }

    /// - Returns: nil for an open invitation.
    package init?(state: InvitationState) {
        switch state {
        case .open: return nil
        case .used: self.init(Reason.used)
        case .expired: self.init(Reason.expired)
        case .revoked: self.init(Reason.revoked)
        case .unknown: self.init(Reason.unknown)
        }
    }

    package var status: Int { reason == .unknown ? 404 : 410 }

    package func title(_ text: PageText) -> String { text.named(.invitationRefused, "\(reason.rawValue).title") }

    package func content(_ text: PageText) -> Any {
        var content = MessageContent(title(text))
        content.paragraphs = ["body", "action"].map { text.named(.invitationRefused, "\(reason.rawValue).\($0)") }
        return content
    }
}
