import NIOHTTP1
package import Vocabulary
package import WireAPI

extension AdminClient {
    /// Creates an invitation for a person at a merchant. The response contains the link, which the daemon does not
    /// return again.
    package func createInvitation(
        _ request: CreateInvitationRequest
    ) async throws(ClientError) -> Response<InvitationDocument> {
        try await post(Paths.invitations, request)
    }

    /// Invitations, including used, expired and revoked ones, newest first.
    ///
    /// - Parameter merchant: nil for every merchant.
    package func invitations(
        of merchant: MerchantIdentifier?
    ) async throws(ClientError) -> Listing<InvitationDocument> {
        var query: [(name: String, value: String)] = []
        if let merchant { query.append(("merchant", merchant.rawValue)) }
        return try await list(Paths.invitations, query: query)
    }

    /// Revokes an invitation at once. If someone has signed in with the invitation, also ends the session.
    package func revokeInvitation(
        _ identifier: InvitationIdentifier
    ) async throws(ClientError) -> Response<InvitationDocument> {
        try await httpClient.fetch(SocketCall(method: .POST, path: Paths.invitationRevocation(identifier)))
    }
}
