import MerchantCore
import MerchantOperations
import NIOCore
import NIOHTTP1
import WireAPI

/// A request that has arrived whole.
struct DecryptorRequest: Sendable {
    let method: HTTPMethod
    let uri: String
    /// The header `Idempotency-Key`, line by line.
    let idempotencyKeys: [String]
    let body: ByteBuffer
}

/// What a request leads to.
enum Answer: Sendable {
    /// Known without waiting for anything.
    case now(Response)
    /// Waits for the store or computes for long: for a thread that may block.
    case blocking(@Sendable () throws -> Response)
    /// Waits for a commit, and is on record under the request's number.
    case waiting(Request, @Sendable (Request) async throws -> Response)
}

/// The routes' work: decode, ask the permit, do one use case, encode. Knows nothing of connections.
struct Endpoints: Sendable {
    let operations: PaymentTokenOperations
    let answers: AnswerCache
    let health: HealthResponses
    let blockingPool: BlockingPool

    /// Does on the event loop what is quick, and says what is to be done for the rest.
    func answer(_ request: DecryptorRequest, from peer: Peer) throws -> Answer {
        let target = try RequestTarget(request.method, request.uri) { try peer.require($0.permit, of: $1) }
        guard request.method == .POST || request.body.readableBytes == 0 else {
            throw MerchantError(.malformed, "found a body in a \(request.method.rawValue) request, expected none")
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
