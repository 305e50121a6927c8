import HTTPTypes
import MerchantCore
import MerchantOperations
import RESTKit
import Vocabulary
import WireAPI

extension AdminRoutes {
    static let keyTransitions: [AdminRoute] = [
        .changes(.post, "/v1/keys/{publicKeyHash}/promote", logMessage: "key promoted", AdminHandlers.promoteKey),
        .changes(
            .post, "/v1/keys/{publicKeyHash}/revoke", logMessage: "key revoked", effect: .destroys,
            AdminHandlers.revokeKey),
        .changes(.post, "/v1/keys/{publicKeyHash}/restore", logMessage: "key restored", AdminHandlers.restoreKey),
        .changes(
            .post, "/v1/keys/{publicKeyHash}/destroy", logMessage: "key destruction requested", effect: .destroys,
            AdminHandlers.destroyKey),
    ]
}

extension AdminHandlers {
    func promoteKey(_ call: RESTCall, _ hash: PublicKeyHash) async throws -> RESTResponse {
        let body = try call.read(orEmpty: KeyTransitionRequest())
        return try response(
            await operations.transitions.promote(hash, dryRun: body.dryRun ?? false, for: call.request))
    }

    func revokeKey(_ call: RESTCall, _ hash: PublicKeyHash) async throws -> RESTResponse {
        let body = try call.read(RevokeKeyRequest.self)
        return try response(
            await operations.transitions.revoke(
                hash, reason: body.reason, dryRun: body.dryRun ?? false, for: call.request))
    }

    func restoreKey(_ call: RESTCall, _ hash: PublicKeyHash) async throws -> RESTResponse {
        let body = try call.read(orEmpty: KeyTransitionRequest())
        return try response(
            await operations.transitions.restore(hash, dryRun: body.dryRun ?? false, for: call.request))
    }

    func destroyKey(_ call: RESTCall, _ hash: PublicKeyHash) async throws -> RESTResponse {
        let body = try call.read(orEmpty: DestroyKeyRequest())
        return try response(
            await operations.transitions.destroy(
                hash, after: body.afterSeconds.map { .seconds($0) }, dryRun: body.dryRun ?? false, for: call.request))
    }

    private func response(_ result: KeyTransitionResult) throws -> RESTResponse {
        try RESTResponse(KeyTransitionDocument(result)).withLogFields(
            merchant: result.key.keyPair.merchantIdentifier, key: result.key.keyPair.publicKeyHash,
            dryRun: result.dryRun)
    }
}
