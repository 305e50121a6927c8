import HTTPKit
import HTTPTypes
import MerchantCore
import MerchantOperations
import RESTKit
import ServerKit
import Vocabulary
import WireAPI

extension AdminRoutes {
    static let invitations: [AdminRoute] = [
        .reads(
            "/v1/invitations", scope: .checkedByHandler, query: ["merchant", "limit", "cursor"],
            AdminHandlers.listInvitations),
        .changes(
            .post, "/v1/invitations", logMessage: "invitation created", scope: .checkedByHandler,
            AdminHandlers.createInvitation),
        .changes(
            .post, "/v1/invitations/{invitationId}/revoke", logMessage: "invitation revoked", effect: .destroys,
            maximumBodyBytes: 0, AdminHandlers.revokeInvitation),
    ]
}

extension AdminHandlers {
    /// Lists invitations. A caller whose permit is limited to some merchants must name one of them in the query.
    func listInvitations(_ call: RESTCall) async throws -> RESTResponse {
        let limit = try call.limit()
        let merchant = try call.merchantToRead(.read)
        let cursor = try call.query.value("cursor", as: InvitationIdentifier.self)
        let found = try await operations.invitations.list(of: merchant, after: cursor, limit: limit + 1)
        return try RESTResponse(
            Page(found, limit: limit, document: { InvitationDocument($0) }, cursor: { $0.identifier.rawValue }))
    }

    /// Creates an invitation. Only this response contains the link.
    func createInvitation(_ call: RESTCall) async throws -> RESTResponse {
        let body = try call.read(CreateInvitationRequest.self)
        let merchant = body.merchantIdentifier
        try call.require(.administer, for: merchant)
        let portal = try operations.requiredPortalURL()
        let (invitation, secret) = try await operations.invitations.create(
            for: merchant, expiresAt: body.expiresAt, note: body.note,
            for: call.requestWithIdempotencyKey(Paths.invitations))
        let document = InvitationDocument(invitation, url: portal + Paths.invitationPage(secret.text))
        return try RESTResponse(document, status: .created).withLogFields(merchant: merchant)
    }

    func revokeInvitation(_ call: RESTCall, _ identifier: InvitationIdentifier) async throws -> RESTResponse {
        let invitation = try await operations.invitations.revoke(identifier, for: call.request)
        return try RESTResponse(InvitationDocument(invitation)).withLogFields(merchant: invitation.merchantIdentifier)
    }
}
