import HTTPKit
import MerchantCore
import MerchantOperations
import NIOCore
import NIOHTTP1
import ServerKit
import WireAPI

/// A request of a decryptor.
struct DecryptorRequest: Sendable {
    let method: HTTPMethod
    let uri: String
    /// The request's identifiers; nil if the client sent none and the server has not needed one yet.
    let identifiers: RequestIdentifiers?
    /// The values of the header `Idempotency-Key`; empty unless the method is `POST`.
    let idempotencyKeys: [String]
    /// The body, as far as it has arrived.
    var body = ByteBuffer()
}

extension DecryptorRequest {
    /// The request for a use case, without the Idempotency-Key.
    func operationRequest(of peer: Peer) -> Request {
        Request(caller: peer.caller, requestId: identifiers?.requestId ?? RequestId.make())
    }
}

/// How the server produces the response to a request.
enum ResponsePlan: Sendable {
    /// The response is already known.
    case now(EncodedResponse)
    /// The response comes from a function that waits for the store or computes for a long time. The function needs a
    /// thread that may block.
    case blocking(@Sendable () throws -> EncodedResponse)
    /// The response comes from an asynchronous function, which suspends, for example until the store has committed or
    /// Apple has responded. The function gets the ``Request``, whose identifier also appears in the audit record.
    case suspending(Request, @Sendable (Request) async throws -> EncodedResponse)
}

/// The handlers of all routes. ``plan(_:from:matched:)`` checks the route's permit and calls the handler. The handler
/// decodes the request, checks permits that depend on the merchant or on the request, calls a use case, and encodes the
/// result.
struct Endpoints: Sendable {
    let operations: PaymentTokenOperations
    let sessions: SessionOperations
    let mpans: MPANOperations
    let responses: KeyResponseCache
    let health: HealthResponses
    /// The OpenAPI document. All responses share its body.
    let openAPI: EncodedResponse
    let blockingPool: BlockingPool

    /// Handles a quick request on the event loop, and returns its response. For every other request, returns the
    /// function that produces the response.
    ///
    /// - Parameter route: set to the index of the matched route, even if this function then throws an error.
    func plan(_ request: DecryptorRequest, from peer: Peer, matched route: inout Int?) throws -> ResponsePlan {
        // `authorize` is called when the method and path match a route, before the query is validated. It calls
        // `publicKeyHash()` only for a refused request, whose record names the key.
        let target = try RouteMatch(
            request.method, request.uri,
            authorize: { matchedRoute, index, publicKeyHash in
                route = index
                switch matchedRoute.permit {
                case .permit(let permit): try peer.require(permit, of: publicKeyHash())
                case .any: try peer.requireAnyPermit(of: publicKeyHash())
                }
            })
        guard request.method.isPOST || request.body.readableBytes == 0 else {
            throw MerchantError(.malformed, "a \(request.method.rawValue) request must not have a body")
        }
        switch target.route.endpoint {
        case .findKey:
            return target.includesPrivateKey
                ? try exportPrivateKey(target, request, peer) : try findKey(target, peer)
        case .symmetricKey: return try symmetricKey(target, request.body, peer)
        case .verifyToken: return verifyToken(request.body, peer)
        case .decryptToken: return decryptToken(request, peer)
        case .readMPAN: return try readMPAN(target, request, peer)
        case .requestSession: return requestSession(request, peer)
        case .health: return .now(health.response())
        case .openAPI: return .now(openAPI)
        }
    }
}
