package import MerchantCore
package import Vocabulary

/// The list of invitations.
package struct InvitationsPage: HTMLPage {
    private let invitations: [Invitation]
    private let merchant: MerchantIdentifier?
    private let hasMore: Bool
    private let wasRevoked: Bool

    package let area = PageArea.invitations
    package let template = PageTemplate.invitations

    /// - Parameters:
    ///   - merchant: the merchant to which the list is limited; nil for all merchants.
    ///   - hasMore: whether there are invitations after the last of the list.
    ///   - wasRevoked: whether the page follows the revocation of an invitation.
    package init(
        _ invitations: [Invitation], of merchant: MerchantIdentifier?, hasMore: Bool, wasRevoked: Bool = false
    ) {
        self.invitations = invitations
        self.merchant = merchant
        self.hasMore = hasMore
        self.wasRevoked = wasRevoked
    }

    package func title(_ text: PageText) -> String { text[.invitationsTitle] }

    package func content(_ text: PageText) -> Any {
        InvitationsContent(
            alert: wasRevoked ? AlertContent.success(text[.invitationsRevoked], []) : nil,
            createPath: merchant.map { PortalPaths.invitationForm(for: $0) } ?? PortalPaths.newInvitation,
            filter: merchant.map { text.filled(.invitationsOf, ["merchant": $0.rawValue]) },
            hasInvitations: !invitations.isEmpty,
            invitations: invitations.map { InvitationsContent.Row($0, text) }, nextPath: nextPath)
    }

    private var nextPath: String? {
        guard hasMore, let last = invitations.last else { return nil }
        let list = merchant.map { "\(PortalPaths.invitationList(of: $0))&" } ?? "\(PortalPaths.invitations)?"
        return "\(list)after=\(last.identifier.rawValue)"
    }
}

/// The values of the template `invitations`.
struct InvitationsContent {
    struct Revocation {
        let path: String
        /// The invitation that the button revokes, for screen readers.
        let of: String
    }

    struct Row {
        let id: String
        let merchant: String
        let merchantPath: String
        let stateName: String
        let state: String
        let note: String?
        let created: TimeContent
        let createdBy: String
        let expires: TimeContent
        /// nil for an invitation that was revoked, or that expired without being used.
        let revocation: Revocation?

        init(_ invitation: Invitation, _ text: PageText) {
            id = invitation.identifier.rawValue
            merchant = invitation.merchantIdentifier.rawValue
            merchantPath = PortalPaths.fleetMerchant(invitation.merchantIdentifier)
            note = invitation.note
            created = text.time(invitation.createdAt)
            createdBy = invitation.createdBy
            expires = text.time(invitation.expiresAt)
            // A used invitation can be revoked too, which ends its session.
            var isRevocable = true
            if let time = invitation.revokedAt {
                stateName = "revoked"
                state = text.filled(.invitationsStateRevoked, ["time": text.day(time).text])
                isRevocable = false
            } else if let time = invitation.usedAt {
                stateName = "used"
                state = text.filled(.invitationsStateUsed, ["time": text.day(time).text])
            } else if invitation.expiresAt <= text.now {
                stateName = "expired"
                state = text[.invitationsStateExpired]
                isRevocable = false
            } else {
                stateName = "open"
                state = text[.invitationsStateOpen]
            }
            revocation =
                isRevocable
                ? Revocation(
                    path: PortalPaths.invitationRevocation(invitation.identifier),
                    of: text.filled(.invitationsRevokeOf, ["id": invitation.identifier.rawValue]))
                : nil
        }
    }

    let alert: AlertContent?
    let createPath: String
    /// Which merchant the list is limited to; nil for all merchants.
    let filter: String?
    let allPath = PortalPaths.invitations
    let hasInvitations: Bool
    let invitations: [Row]
    let nextPath: String?
}
