import HTTPTypes
import MerchantCore
import MerchantOperations
import MetricsKit
import NIOCore
import RESTKit
import ServerKit
import Vocabulary
import WireAPI

extension AdminRoutes {
    static let monitoring: [AdminRoute] = [
        .reads("/v1/status", AdminHandlers.getStatus),
        .reads("/metrics", permit: .monitor, AdminHandlers.getMetrics),
        .reads("/v1/health", permit: nil, AdminHandlers.getHealth),
        .reads("/v1/openapi.yaml", permit: nil, AdminHandlers.getOpenAPIDocument),
    ]
}

extension AdminHandlers {
    func getStatus(_ call: RESTCall) async throws -> RESTResponse {
        var document = StatusDocument(
            try await operations.monitoring.status(), version: version, startedAt: startedAt)
        document.portalURL = operations.portalURL()
        return try RESTResponse(document)
    }

    func getHealth(_ call: RESTCall) async throws -> RESTResponse {
        let document = health()
        return try RESTResponse(document, status: document.ready ? .ok : .serviceUnavailable)
    }

    func getMetrics(_ call: RESTCall) async -> RESTResponse {
        RESTResponse(bytes: ByteBuffer(string: await metrics.text()), mediaType: MetricsText.mediaType)
    }

    func getOpenAPIDocument(_ call: RESTCall) async -> RESTResponse {
        var response = RESTResponse(bytes: openAPI, mediaType: "application/yaml")
        response.isShared = true
        return response
    }
}
