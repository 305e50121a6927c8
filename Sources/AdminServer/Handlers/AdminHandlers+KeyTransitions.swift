import MerchantCore
import MerchantOperations
import Vocabulary
import WireAPI

extension AdminHandlers {
    func promote(_ call: AdminCall, _ hash: PublicKeyHash) async throws -> Answer {
        let body = try call.read(orEmpty: KeyTransitionRequest(dryRun: nil))
        return try answer(
            await operations.transitions.promote(hash, dryRun: body.dryRun ?? false, for: call.request))
    }

    func revoke(_ call: AdminCall, _ hash: PublicKeyHash) async throws -> Answer {
        let body = try call.read(RevokeKeyRequest.self)
        return try answer(
            await operations.transitions.revoke(
                hash, reason: body.reason, dryRun: body.dryRun ?? false, for: call.request))
    }

    func restore(_ call: AdminCall, _ hash: PublicKeyHash) async throws -> Answer {
        let body = try call.read(orEmpty: KeyTransitionRequest(dryRun: nil))
        return try answer(
            await operations.transitions.restore(hash, dryRun: body.dryRun ?? false, for: call.request))
    }

    func destroy(_ call: AdminCall, _ hash: PublicKeyHash) async throws -> Answer {
        let body = try call.read(orEmpty: DestroyKeyRequest(afterSeconds: nil, dryRun: nil))
        return try answer(
            await operations.transitions.destroy(
                hash, after: body.afterSeconds.map { .seconds($0) }, dryRun: body.dryRun ?? false, for: call.request))
    }

    private func answer(_ transitions: KeyTransitions) throws -> Answer {
        try Answer(KeyTransitionDocument(transitions)).about(
            merchant: transitions.key.keyPair.merchantIdentifier, key: transitions.key.keyPair.publicKeyHash,
            dryRun: transitions.dryRun)
    }
}
