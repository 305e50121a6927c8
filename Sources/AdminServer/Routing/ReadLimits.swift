import HTTPKit
import ServerKit

/// Limits how many `GET` requests of one user run at the same time.
struct ReadLimits: Sendable {
    private let reads = ReadConcurrency(atOnce: 4)
    /// For reads that wait for events, for up to 30 s each.
    private let waitingReads = ReadConcurrency(atOnce: 32)

    func run(_ call: AdminCall, _ handler: AdminRoute.AuthorizedHandler) async throws -> AdminResponse {
        let concurrency = call.query["wait"] == nil ? reads : waitingReads
        return try await concurrency.run(for: call.peer.holder) { try await handler(call) }
    }
}
