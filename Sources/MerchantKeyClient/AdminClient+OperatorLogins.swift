import NIOHTTP1
package import WireAPI

extension AdminClient {
    /// Creates a link with which the caller can sign in to the portal's pages for operators once.
    package func createOperatorLogin() async throws(ClientError) -> Response<OperatorLoginDocument> {
        try await httpClient.fetch(SocketCall(method: .POST, path: Paths.operatorLogins))
    }
}
