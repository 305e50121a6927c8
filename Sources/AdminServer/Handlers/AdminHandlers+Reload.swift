import HTTPTypes
import MerchantCore
import MerchantOperations
import RESTKit
import WireAPI

extension AdminRoutes {
    static let reload: [AdminRoute] = [
        .changes(.post, "/v1/reload", logMessage: "reload of the settings requested", AdminHandlers.reload)
    ]
}

extension AdminHandlers {
    func reload(_ call: RESTCall) async throws -> RESTResponse {
        let body: ReloadRequest = try call.read(orEmpty: .init())
        let dryRun = body.dryRun ?? false
        let document = ReloadDocument(try await operations.reload(dryRun, call.request), dryRun: dryRun)
        return try RESTResponse(document).withLogFields(dryRun: dryRun)
    }
}
