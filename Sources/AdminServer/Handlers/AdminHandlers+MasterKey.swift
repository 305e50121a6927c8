import HTTPTypes
import MerchantCore
import MerchantOperations
import RESTKit
import Vocabulary
import WireAPI

extension AdminRoutes {
    static let masterKey: [AdminRoute] = [
        .reads("/v1/master-key", AdminHandlers.getMasterKey),
        .changes(
            .post, "/v1/master-key/rotation", logMessage: "rotation of the master key requested", effect: .destroys,
            AdminHandlers.rotateMasterKey),
    ]
}

extension AdminHandlers {
    func getMasterKey(_ call: RESTCall) async throws -> RESTResponse {
        try RESTResponse(MasterKeyDocument(try await operations.masterKey.masterKeyStatus()))
    }

    func rotateMasterKey(_ call: RESTCall) async throws -> RESTResponse {
        let body: RotateMasterKeyRequest = try call.read(orEmpty: .init())
        let dryRun = body.dryRun ?? false
        let (plan, status) = try await operations.masterKey.rotateMasterKey(
            dataKeyOnly: body.dataKeyOnly ?? false, dryRun: dryRun, for: call.request)
        var document = RotationPlanDocument(MasterKeyDocument(status))
        document.dryRun = dryRun
        document.joins = plan.joinsRotationInProgress
        document.steps = plan.steps
        var response = try RESTResponse(document, status: dryRun ? .ok : .accepted)
        response.isDryRun = dryRun
        return response
    }
}
