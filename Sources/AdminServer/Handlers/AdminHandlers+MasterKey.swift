import HTTPTypes
import MerchantCore
import MerchantOperations
import Vocabulary
import WireAPI

extension AdminHandlers {
    func masterKey() async throws -> Answer {
        guard let status = try await operations.masterKey.masterKeyStatus() else {
            throw MerchantError(.notYetAvailable, "this daemon keeps no keys")
        }
        return try Answer(MasterKeyDocument(status))
    }

    func rotateMasterKey(_ call: AdminCall) async throws -> Answer {
        let body: RotateMasterKeyRequest = try call.read(orEmpty: .init(dataKeyOnly: nil, dryRun: nil))
        let dryRun = body.dryRun ?? false
        let (plan, status) = try await operations.masterKey.rotateMasterKey(
            dataKeyOnly: body.dataKeyOnly ?? false, dryRun: dryRun, for: call.request)
        var answer = try Answer(
            RotationPlanDocument(
                dryRun: dryRun, joins: plan.joins, steps: plan.steps, masterKey: MasterKeyDocument(status)),
            status: dryRun ? .ok : .accepted)
        answer.isDryRun = dryRun
        return answer
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
