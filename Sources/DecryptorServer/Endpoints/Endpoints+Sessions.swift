import MerchantCore
import MerchantOperations
import NIOCore
import NIOHTTP1
import ServerKit
import StrictJSON
import WireAPI

extension Endpoints {
    /// `POST /v1/merchant-sessions`: requests a merchant session from Apple. The response's body is Apple's, byte for
    /// byte.
    func requestSession(_ received: DecryptorRequest, _ peer: Peer) -> ResponsePlan {
        .suspending(received.operationRequest(of: peer)) { request in
            let order = try SessionOrder(
                MerchantSessionRequest(JSONFields(parsing: received.body.readableBytesView)))
            try await authorize(order, peer)
            let session = try await sessions.request(order, for: request)
            // A session lets a website show one payment sheet in the merchant's name, so the response is handled like a
            // secret: no cache may store it.
            return EncodedResponse(
                .ok, fields: Self.jsonFields(request), bodyCapacity: session.count, holdsSecret: true
            ) { $0.writeBytes(session) }
        }
    }

    /// Checks the permit for the merchant of the session. For a registration that belongs to no merchant of the daemon,
    /// the caller needs the permit for every merchant.
    private func authorize(_ order: SessionOrder, _ peer: Peer) async throws {
        // A caller with the permit for every merchant needs no check of the owner, so the owner is not read.
        guard !peer.grants.allowsEveryMerchant(.merchantSession) else { return }
        guard let owner = try await sessions.owner(of: order) else {
            return try peer.requireEveryMerchant(.merchantSession)
        }
        try peer.require(.merchantSession, for: owner)
    }
}
