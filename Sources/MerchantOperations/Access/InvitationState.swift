package import MerchantCore
import Vocabulary

/// Whether the link of an invitation can begin a session, and if not, why.
package enum InvitationState: Hashable, Sendable {
    case open(Invitation)
    /// The link was used. Each link begins one session.
    case used
    case expired
    case revoked
    /// No invitation has this secret.
    case unknown
}

extension Invitation {
    func state(at now: Timestamp) -> InvitationState {
        if revokedAt != nil { return .revoked }
        if usedAt != nil { return .used }
        return expiresAt <= now ? .expired : .open(self)
    }

    func isOpen(at now: Timestamp) -> Bool { state(at: now) == .open(self) }
}

extension InvitationState {
    /// The error for a link that is not open.
    var refusal: MerchantError {
        let cause =
            switch self {
            case .used: "the invitation was used already, and each invitation can be used only once"
            case .expired: "the invitation has expired"
            case .revoked: "the invitation was revoked"
            case .open, .unknown: "the invitation's link is not valid"
            }
        return MerchantError(.unauthorized, "\(cause): ask the person who sent the link for a new one")
    }
}

extension InvitationReading {
    /// - Throws: `invitationNotFound`.
    func existingInvitation(_ identifier: InvitationIdentifier) throws -> Invitation {
        guard let invitation = try invitation(identifier) else {
            throw MerchantError(
                .invitationNotFound,
                "there is no invitation \(identifier): check the spelling; 'invite list' lists the invitations")
        }
        return invitation
    }
}

extension InvitationReading where Self: MerchantReading {
    /// The state of the invitation that has this secret. The invitation of a removed merchant counts as revoked.
    func state(of secret: PortalSecret, at now: Timestamp) throws -> InvitationState {
        guard let invitation = try invitation(secretIdentifier: secret.identifier), invitation.secret.matches(secret)
        else { return .unknown }
        guard let merchant = try merchant(invitation.merchantIdentifier), merchant.removedAt == nil else {
            return .revoked
        }
        return invitation.state(at: now)
    }
}
