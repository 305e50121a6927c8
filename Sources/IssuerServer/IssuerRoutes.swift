import HTTPTypes
package import RESTKit
import WireAPI

/// One route of the issuer socket.
package typealias IssuerRoute = RESTRoute<IssuerHandlers>

/// The routes of the issuer socket.
package enum IssuerRoutes {
    package static let all: [IssuerRoute] = [
        // Card data belongs to no merchant, so a permit that is limited to some merchants is not enough.
        .changes(
            .post, Paths.provisioningRequests, logMessage: "card data encrypted for in-app provisioning",
            scope: .everyMerchant, IssuerHandlers.encryptCardData),
        .reads("/v1/health", permit: nil, IssuerHandlers.getHealth),
        .reads("/v1/openapi.yaml", permit: nil, IssuerHandlers.getOpenAPIDocument),
    ]
}

extension IssuerHandlers {
    func getHealth(_ call: RESTCall) async throws -> RESTResponse {
        let document = health()
        return try RESTResponse(document, status: document.ready ? .ok : .serviceUnavailable)
    }

    func getOpenAPIDocument(_ call: RESTCall) async -> RESTResponse {
        var response = RESTResponse(bytes: openAPI, mediaType: "application/yaml")
        response.isShared = true
        return response
    }
}
