import HTTPKit
import ServerKit

/// Limits how many `GET` requests of one user run at the same time.
struct ReadLimits: Sendable {
    private let reads = ReadConcurrency(atOnce: 4)
    /// The limit of the requests that wait for events. Each may wait for up to 30 s, so these requests do not count in
    /// `reads`.
    private let waitingReads = ReadConcurrency(atOnce: 32)

    func run(
        _ call: RESTCall, _ handler: @Sendable (RESTCall) async throws -> RESTResponse
    ) async throws -> RESTResponse {
        let concurrency = call.query["wait"] == nil ? reads : waitingReads
        return try await concurrency.run(for: call.peer.holder) { try await handler(call) }
    }
}
