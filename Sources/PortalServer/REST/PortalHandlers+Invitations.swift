import HTTPTypes
import MerchantCore
import MerchantOperations
import RESTKit
import ServerKit
import Vocabulary
import WireAPI

extension PortalRoutes {
    static let invitations: [PortalRoute] = [
        .changes(
            .post, "/v1/invitations", logMessage: "invitation created", scope: .checkedByHandler,
            PortalHandlers.createInvitation)
    ]
}

extension PortalHandlers {
    /// Invites a person at one of the caller's merchants. Only for machines: a person who was invited cannot invite
    /// others.
    func createInvitation(_ call: RESTCall) async throws -> RESTResponse {
        guard call.isFromMachine else {
            call.peer.recordRefusal(.onboard)
            throw MerchantError(
                .forbidden, "only an access can create invitations: send an access token or its client certificate")
        }
        let body = try call.read(CreateInvitationRequest.self)
        try call.require(.onboard, for: body.merchantIdentifier)
        guard let url = publicURL() else {
            throw MerchantError(.portalNotConfigured, "the portal is starting: send the request again")
        }
        let (invitation, secret) = try await operations.invitations.create(
            for: body.merchantIdentifier, expiresAt: body.expiresAt, note: body.note,
            for: call.requestWithIdempotencyKey(Paths.invitations))
        let document = InvitationDocument(invitation, url: url + Paths.invitationPage(secret.text))
        return try RESTResponse(document, status: .created)
            .withLogFields(merchant: body.merchantIdentifier)
    }
}

extension RESTCall {
    /// Whether the caller is a machine with an access, not a person in a session.
    fileprivate var isFromMachine: Bool { caller.remote?.name.hasPrefix("access:") ?? false }
}
