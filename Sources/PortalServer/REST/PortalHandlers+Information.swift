import HTTPTypes
import RESTKit
import WireAPI

extension PortalRoutes {
    /// Routes for every client, also without credentials.
    static let information: [PortalRoute] = [
        .reads("/v1/health", permit: nil, PortalHandlers.getHealth),
        .reads("/v1/openapi.yaml", permit: nil, PortalHandlers.getOpenAPI),
    ]
}

extension PortalHandlers {
    /// Returns only whether the daemon is ready, because every client may send this request.
    func getHealth(_ call: RESTCall) async throws -> RESTResponse {
        let isReady = health().ready
        return try RESTResponse(
            PublicHealthDocument(status: isReady ? "ok" : "unavailable"), status: isReady ? .ok : .serviceUnavailable)
    }

    func getOpenAPI(_ call: RESTCall) async throws -> RESTResponse {
        var response = RESTResponse(bytes: openAPI, mediaType: "application/yaml")
        response.isShared = true
        return response
    }
}

/// The response of the portal's `GET /v1/health`. The status is `ok` or `unavailable`.
private struct PublicHealthDocument: Encodable {
    let status: String
}
