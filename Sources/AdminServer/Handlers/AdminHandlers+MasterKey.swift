import HTTPTypes
import MerchantCore
import MerchantOperations
import Vocabulary
import WireAPI

extension AdminRoute {
    static let masterKey: [AdminRoute] = [
        reads("/v1/master-key", AdminHandlers.getMasterKey),
        changes(
            .post, "/v1/master-key/rotation", action: "rotation of the master key ordered", effect: .destroys,
            AdminHandlers.rotateMasterKey),
    ]
}

extension AdminHandlers {
    func getMasterKey(_ call: AdminCall) async throws -> AdminResponse {
        guard let status = try await operations.masterKeyStatus() else {
            throw MerchantError(.notYetAvailable, "this daemon keeps no keys")
        }
        return try AdminResponse(MasterKeyDocument(status))
    }

    func rotateMasterKey(_ call: AdminCall) async throws -> AdminResponse {
        let body: RotateMasterKeyRequest = try call.read(orEmpty: .init(dataKeyOnly: nil, dryRun: nil))
        let dryRun = body.dryRun ?? false
        let (plan, status) = try await operations.rotateMasterKey(
            dataKeyOnly: body.dataKeyOnly ?? false, dryRun: dryRun, for: call.request)
        var response = try AdminResponse(
            RotationPlanDocument(
                dryRun: dryRun, joins: plan.joins, steps: plan.steps, masterKey: MasterKeyDocument(status)),
            status: dryRun ? .ok : .accepted)
        response.isDryRun = dryRun
        return response
    }
}

extension MasterKeyDocument {
    init(_ status: MasterKeyStatus) {
        self.init(
            masterKeyIdentifier: status.masterKey.description, dataKeyIdentifier: status.dataKeyIdentifier,
            source: status.source,
            rotation: status.rotation.map { rotation in
                Rotation(
                    state: rotation.state.rawValue, dataKeyOnly: !rotation.replacesMasterKey,
                    dataKeyIdentifier: rotation.dataKeyIdentifier, total: rotation.total, done: rotation.done,
                    startedAt: rotation.startedAt.rfc3339, finishedAt: rotation.finishedAt?.rfc3339,
                    obstacle: rotation.state == .finished ? nil : status.obstacle)
            })
    }
}
