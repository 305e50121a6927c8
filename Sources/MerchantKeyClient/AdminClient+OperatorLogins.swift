import NIOHTTP1
package import WireAPI

extension AdminClient {
    /// Whose sessions ``endOperatorSessions(of:)`` ends.
    package enum OperatorSelection: Hashable, Sendable {
        case caller
        case user(uid: UInt32)
        case allUsers
    }

    /// Creates a link with which the caller can sign in once to the portal's pages for operators.
    package func createOperatorLogin() async throws(ClientError) -> Response<OperatorLoginDocument> {
        try await httpClient.fetch(SocketCall(method: .POST, path: Paths.operatorLogins))
    }

    /// Ends the sessions of the selected operators at the portal's pages, and revokes their links that were not used
    /// yet.
    package func endOperatorSessions(
        of operators: OperatorSelection
    ) async throws(ClientError) -> Response<EndedOperatorSessionsDocument> {
        let query: [(name: String, value: String)] =
            switch operators {
            case .caller: []
            case .user(let uid): [("uid", String(uid))]
            case .allUsers: [("allUsers", "true")]
            }
        return try await httpClient.fetch(
            SocketCall(method: .DELETE, path: Paths.operatorSessions, query: query))
    }
}
