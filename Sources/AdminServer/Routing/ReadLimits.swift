import HTTPKit
import ServerKit

/// Applies ``ReadConcurrency`` to the requests with `GET`.
struct ReadLimits: Sendable {
    private let reads = ReadConcurrency(atOnce: 4)
    /// For reads that wait for events, each for up to 30 s.
    private let waitingReads = ReadConcurrency(atOnce: 32)

    func run(_ call: AdminCall, _ handler: AdminRoute.AuthorizedHandler) async throws -> AdminResponse {
        let limit = call.query["wait"] == nil ? reads : waitingReads
        return try await limit.run(for: call.peer.holder) { try await handler(call) }
    }
}
