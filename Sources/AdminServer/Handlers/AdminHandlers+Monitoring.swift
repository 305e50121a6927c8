import HTTPKit
import HTTPTypes
import MerchantCore
import MerchantOperations
import NIOCore
import Vocabulary
import WireAPI

extension AdminRoute {
    static let monitoring: [AdminRoute] = [
        reads("/v1/status", AdminHandlers.getStatus), reads("/metrics", AdminHandlers.getMetrics),
        reads("/v1/health", permit: nil, AdminHandlers.getHealth),
        reads("/v1/openapi.yaml", permit: nil, AdminHandlers.getOpenAPIDocument),
    ]
}

extension AdminHandlers {
    func getStatus(_ call: AdminCall) async throws -> AdminResponse {
        try AdminResponse(
            StatusDocument(try await operations.monitoring.status(), version: version, startedAt: startedAt))
    }

    func getHealth(_ call: AdminCall) async throws -> AdminResponse {
        let document = health()
        return try AdminResponse(document, status: document.ready ? .ok : .serviceUnavailable)
    }

    func getMetrics(_ call: AdminCall) async throws -> AdminResponse {
        let status = try await operations.monitoring.status()
        let page = MetricsPage(
            counts: status.counts, soonestExpiry: try await operations.monitoring.soonestExpiry(), rolls: status.rolls,
            webhooks: status.webhooks,
            rotation: try await operations.masterKey.masterKeyStatus().rotation, requests: requests, version: version,
            startedAt: startedAt,
            residentBytes: ProcessMemory.residentBytes())
        return AdminResponse(bytes: ByteBuffer(string: page.text), mediaType: MetricsText.mediaType)
    }

    func getOpenAPIDocument(_ call: AdminCall) async -> AdminResponse {
        var response = AdminResponse(bytes: openAPI, mediaType: "application/yaml")
        response.isShared = true
        return response
    }
}
