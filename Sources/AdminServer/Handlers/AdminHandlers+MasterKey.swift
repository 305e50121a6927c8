import HTTPTypes
import MerchantCore
import MerchantOperations
import Vocabulary
import WireAPI

extension AdminHandlers {
    func masterKey() async throws -> Answer {
        guard let status = try await operations.masterKeyStatus() else {
            throw MerchantError(.notYetAvailable, "this daemon keeps no keys")
        }
        return try Answer(MasterKeyDocument(status))
    }

    func rotateMasterKey(_ call: AdminCall) async throws -> Answer {
        let body: RotateMasterKeyRequest = try call.read(orEmpty: .init())
        let dryRun = body.dryRun ?? false
        let (plan, status) = try await operations.rotateMasterKey(
            dataKeyOnly: body.dataKeyOnly ?? false, dryRun: dryRun, for: call.request)
        var document = RotationPlanDocument(MasterKeyDocument(status))
        document.dryRun = dryRun
        document.joins = plan.joins
        document.steps = plan.steps
        var answer = try Answer(document, status: dryRun ? .ok : .accepted)
        answer.isDryRun = dryRun
        return answer
    }
}
