package import MerchantCore
import Vocabulary

/// The counts of one round of ``OpenCallResolution``.
package struct OpenCallRound: Hashable, Sendable {
    package var resolved = 0
    /// Calls whose outcome is still unknown.
    package var open = 0
    /// The reason why Apple could not be asked.
    package var failure: MerchantError?
}

/// Finds the outcomes of calls to Apple that a crash or a lost response left open.
package struct OpenCallResolution: Sendable {
    private let calls: RegistrationCalls

    package init(calls: RegistrationCalls) { self.calls = calls }

    private static let pageSize = 100

    /// Asks Apple for the outcome of every open call. First waits for the calls in progress.
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
            // The request that made it may have closed it meanwhile, or opened another.
            guard let open = try await calls.records.read({ try $0.openCall(of: partner) }) else { return true }
            return try await calls.resolve(open, for: request)
        }
    }
}
