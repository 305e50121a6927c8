import HTTPTypes
import MerchantCore
import MerchantOperations
import Vocabulary
import WireAPI

extension AdminRoute {
    static let keyTransitions: [AdminRoute] = [
        changes(.post, "/v1/keys/{publicKeyHash}/promote", logMessage: "key promoted", AdminHandlers.promoteKey),
        changes(
            .post, "/v1/keys/{publicKeyHash}/revoke", logMessage: "key revoked", effect: .destroys,
            AdminHandlers.revokeKey),
        changes(.post, "/v1/keys/{publicKeyHash}/restore", logMessage: "key restored", AdminHandlers.restoreKey),
        changes(
            .post, "/v1/keys/{publicKeyHash}/destroy", logMessage: "key destruction requested", effect: .destroys,
            AdminHandlers.destroyKey),
    ]
}

extension AdminHandlers {
    func promoteKey(_ call: AdminCall, _ hash: PublicKeyHash) async throws -> AdminResponse {
        let body = try call.read(orEmpty: KeyTransitionRequest())
        return try response(
            await operations.transitions.promote(hash, dryRun: body.dryRun ?? false, for: call.request))
    }

    func revokeKey(_ call: AdminCall, _ hash: PublicKeyHash) async throws -> AdminResponse {
        let body = try call.read(RevokeKeyRequest.self)
        return try response(
            await operations.transitions.revoke(
                hash, reason: body.reason, dryRun: body.dryRun ?? false, for: call.request))
    }

    func restoreKey(_ call: AdminCall, _ hash: PublicKeyHash) async throws -> AdminResponse {
        let body = try call.read(orEmpty: KeyTransitionRequest())
        return try response(
            await operations.transitions.restore(hash, dryRun: body.dryRun ?? false, for: call.request))
    }

    func destroyKey(_ call: AdminCall, _ hash: PublicKeyHash) async throws -> AdminResponse {
        let body = try call.read(orEmpty: DestroyKeyRequest())
        return try response(
            await operations.transitions.destroy(
                hash, after: body.afterSeconds.map { .seconds($0) }, dryRun: body.dryRun ?? false, for: call.request))
    }

    private func response(_ result: KeyTransitionResult) throws -> AdminResponse {
        try AdminResponse(KeyTransitionDocument(result)).withLogFields(
            merchant: result.key.keyPair.merchantIdentifier, key: result.key.keyPair.publicKeyHash,
            dryRun: result.dryRun)
    }
}
