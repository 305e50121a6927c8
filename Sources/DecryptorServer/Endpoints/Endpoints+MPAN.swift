import HTTPKit
import MerchantCore
import MerchantOperations
import NIOCore
import NIOHTTP1
import Secrets
import ServerKit
import Vocabulary

extension Endpoints {
    /// `GET /v1/merchant-tokens/{merchantTokenIdentifier}/mpan`: returns the account number of a merchant token. The
    /// audit records this before the response is sent. A `HEAD` request is recorded, too.
    func readMPAN(_ target: RouteMatch, _ received: DecryptorRequest, _ peer: Peer) throws -> ResponsePlan {
        guard let token = target.merchantTokenIdentifier else {
            // A mistake in the table of routes.
            throw MerchantError(
                .internalError, "the route \(target.route.path) has no merchantTokenIdentifier in its path")
        }
        return .suspending(received.operationRequest(of: peer)) { request in
            let mpan = try await mpans.mpan(of: token, for: request) { try peer.require(.decrypt, for: $0) }
            return mpan.withUnsafeBytes { digits in
                // Neither the identifier nor the digits have characters that JSON escapes.
                EncodedResponse(
                    .ok, fields: Self.jsonFields(request),
                    bodyCapacity: token.rawValue.utf8.count + digits.count + 64, holdsSecret: true
                ) { body in
                    body.writeStaticString("{\"merchantTokenIdentifier\":\"")
                    body.writeString(token.rawValue)
                    body.writeStaticString("\",\"mpan\":\"")
                    body.writeBytes(digits)
                    body.writeStaticString("\"}")
                }
            }
        }
    }
}
