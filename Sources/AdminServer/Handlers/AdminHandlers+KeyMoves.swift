import MerchantCore
import MerchantOperations
import Vocabulary
import WireAPI

extension AdminHandlers {
    func promote(_ call: AdminCall, _ hash: PublicKeyHash) async throws -> Answer {
        let body = try call.read(orEmpty: MoveKeyRequest(dryRun: nil))
        return try answer(
            await operations.promote(hash, dryRun: body.dryRun ?? false, for: call.request))
    }

    func revoke(_ call: AdminCall, _ hash: PublicKeyHash) async throws -> Answer {
        let body = try call.read(RevokeKeyRequest.self)
        return try answer(
            await operations.revoke(hash, reason: body.reason, dryRun: body.dryRun ?? false, for: call.request))
    }

    func restore(_ call: AdminCall, _ hash: PublicKeyHash) async throws -> Answer {
        let body = try call.read(orEmpty: MoveKeyRequest(dryRun: nil))
        return try answer(
            await operations.restore(hash, dryRun: body.dryRun ?? false, for: call.request))
    }

    func destroy(_ call: AdminCall, _ hash: PublicKeyHash) async throws -> Answer {
        let body = try call.read(orEmpty: DestroyKeyRequest(afterSeconds: nil, dryRun: nil))
        return try answer(
            await operations.destroy(
                hash, after: body.afterSeconds.map { .seconds($0) }, dryRun: body.dryRun ?? false, for: call.request))
    }

    private func answer(_ moves: KeyMoves) throws -> Answer {
        try Answer(KeyMoveDocument(moves)).about(
            merchant: moves.key.keyPair.merchantIdentifier, key: moves.key.keyPair.publicKeyHash, dryRun: moves.dryRun)
    }
}
