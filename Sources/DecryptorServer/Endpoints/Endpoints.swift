import MerchantCore
import MerchantOperations
import NIOCore
import NIOHTTP1
import ServerKit
import WireAPI

/// A request that has arrived completely.
struct DecryptorRequest: Sendable {
    let method: HTTPMethod
    let uri: String
    /// The values of the header `Idempotency-Key`.
    let idempotencyKeys: [String]
    let body: ByteBuffer
}

/// How the server produces the response to a request.
enum ResponsePlan: Sendable {
    /// The response is already known.
    case now(EncodedResponse)
    /// The response comes from a function that waits for the store or computes for a long time. It needs a thread that
    /// may block.
    case blocking(@Sendable () throws -> EncodedResponse)
    /// The response comes from an asynchronous function, which suspends until the store has committed. The function gets
    /// the ``Request``, whose identifier also appears in the audit record.
    case suspending(Request, @Sendable (Request) async throws -> EncodedResponse)
}

/// The handlers of all routes. Each handler decodes the request, checks the permit, calls use cases, and encodes the
/// result.
struct Endpoints: Sendable {
    let operations: PaymentTokenOperations
    let responses: KeyResponseCache
    let health: HealthResponses
    let blockingPool: BlockingPool

    /// Handles a quick request on the event loop, and returns a plan for every other request.
    ///
    /// - Parameter route: set to the index of the matched route, even if this function then throws an error.
    func plan(_ request: DecryptorRequest, from peer: Peer, matched route: inout Int?) throws -> ResponsePlan {
        let target = try RouteMatch(request.method, request.uri) { matched, index, key in
            route = index
            switch matched.permit {
            case .permit(let permit): try peer.require(permit, of: key())
            case .any: try peer.requireAnyPermit(of: key())
            }
        }
        guard request.method == .POST || request.body.readableBytes == 0 else {
            throw MerchantError(.malformed, "a \(request.method.rawValue) request must not have a body")
        }
        switch target.route.endpoint {
        case .resolve:
            return target.includesPrivateKey
                ? try exportPrivateKey(target, method: request.method, peer) : try resolve(target, peer)
        case .symmetricKey: return try symmetricKey(target, request.body, peer)
        case .verifyToken: return verifyToken(request.body, peer)
        case .decryptToken: return decryptToken(request, peer)
        case .health: return .now(health.response())
        }
    }
}
