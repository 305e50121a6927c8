package import Vocabulary
import WireAPI

/// The paths of the pages. Paths of the REST interface are in ``Paths``.
package enum PortalPaths {
    /// Shows a person at a merchant the overview, and redirects an operator to ``fleet``. Without a session, says how
    /// to sign in.
    package static let home = "/"
    package static let signOut = "/sign-out"
    package static let assets = "/assets/"

    // MARK: For people at a merchant

    /// GET shows the key pairs; POST generates one.
    package static let keys = "/merchant/keys"
    /// POST uploads a certificate, as `multipart/form-data`.
    package static let certificates = "/merchant/certificates"
    /// GET asks for a confirmation; POST starts a roll.
    package static let roll = "/merchant/roll"
    /// GET shows the domains; POST registers one.
    package static let domains = "/merchant/domains"
    package static let domainFile = "/merchant/domains/file"
    package static let domainCheck = "/merchant/domains/check"
    /// GET with the query `partner` and `domain` asks for a confirmation; POST with the same fields unregisters.
    package static let unregistration = "/merchant/domains/unregister"

    /// The download of a key pair's CSR.
    package static func signingRequest(of key: PublicKeyHash) -> String { "\(keys)/\(key.base64URL)/csr" }

    // MARK: For operators

    package static let fleet = "/fleet"
    package static let search = "/fleet/search"
    /// GET lists the invitations; POST creates one.
    package static let invitations = "/fleet/invitations"
    package static let newInvitation = "/fleet/invitations/new"

    package static func fleetMerchant(_ merchant: MerchantIdentifier) -> String {
        "/fleet/merchants/\(PercentEncoding.encode(merchant.rawValue))"
    }

    /// The page after the form for a new invitation. It shows the link once.
    package static func createdInvitation(_ invitation: InvitationIdentifier) -> String {
        "\(invitations)/\(invitation.rawValue)"
    }

    /// GET asks for a confirmation; POST revokes.
    package static func invitationRevocation(_ invitation: InvitationIdentifier) -> String {
        "\(invitations)/\(invitation.rawValue)/revoke"
    }

    static func invitationList(of merchant: MerchantIdentifier) -> String {
        "\(invitations)?merchant=\(PercentEncoding.encode(merchant.rawValue))"
    }

    static func invitationForm(for merchant: MerchantIdentifier) -> String {
        "\(newInvitation)?merchant=\(PercentEncoding.encode(merchant.rawValue))"
    }
}
