package import MerchantCore
import Vocabulary

/// The result of asking Apple for the outcomes of all open calls.
package struct OpenCallRound: Hashable, Sendable {
    /// Calls whose outcome is known now.
    package var resolved = 0
    /// Calls whose outcome is still unknown.
    package var open = 0
    /// Why Apple could not be asked; the last reason if there were several.
    package var failure: MerchantError?
}

/// Finds the outcomes of open calls. A call to Apple is open while its outcome is unknown, such as after a crash or
/// without a response.
package struct OpenCallResolution: Sendable {
    private let calls: RegistrationCalls

    package init(calls: RegistrationCalls) { self.calls = calls }

    private static let pageSize = 100

    /// Asks Apple for the outcome of every open call. If a call for the same merchant is in progress, waits for it
    /// first.
    package func resolveOpenCalls(as caller: Caller) async throws -> OpenCallRound {
        let request = Request(caller: caller, requestId: "schedule")
        var round = OpenCallRound()
        var cursor: RegistrationCall?
        while true {
            let (after, page) = (cursor, Self.pageSize)
            let open = try await calls.records.read { try $0.openCalls(after: after, limit: page) }
            for call in open {
                do {
                    if try await resolveInTurn(call, for: request) { round.resolved += 1 } else { round.open += 1 }
                } catch let error as MerchantError {
                    round.open += 1
                    round.failure = error
                    guard !error.concernsEveryMerchant else { return round }
                }
            }
            guard open.count == page else { return round }
            cursor = open.last
        }
    }

    private func resolveInTurn(_ call: RegistrationCall, for request: Request) async throws -> Bool {
        let partner = call.partnerInternalMerchantIdentifier
        return try await calls.run(partner) {
            // While this method waited, the request that made the call may have closed it, or another call may have
            // been opened.
            guard let open = try await calls.records.read({ try $0.openCall(of: partner) }) else { return true }
            return try await calls.resolve(open, for: request)
        }
    }
}
