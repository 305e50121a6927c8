package import MerchantCore
import Vocabulary

/// What a round of settling came to.
package struct SettlingRound: Hashable, Sendable {
    package var settled = 0
    /// Calls whose outcome still nobody knows.
    package var open = 0
    /// Why Apple could not be asked.
    package var failure: MerchantError?
}

extension MerchantOperations {
    private static let settlingPage = 100

    /// Asks Apple what became of every call without a known outcome: those that a crash or a lost answer left behind.
    ///
    /// Calls that are just being made are waited for, not judged.
    package func settleOpenCalls(as caller: Caller) async throws -> SettlingRound {
        let request = Request(caller: caller, requestId: "schedule")
        var round = SettlingRound()
        var cursor: RegistrationCall?
        while true {
            let (after, page) = (cursor, Self.settlingPage)
            let calls = try await repository.read { try $0.openCalls(after: after, limit: page) }
            for call in calls {
                do {
                    if try await settleInTurn(call, for: request) { round.settled += 1 } else { round.open += 1 }
                } catch let error as MerchantError {
                    round.open += 1
                    round.failure = error
                    guard !error.concernsEveryMerchant else { return round }
                }
            }
            guard calls.count == page else { return round }
            cursor = calls.last
        }
    }

    private func settleInTurn(_ call: RegistrationCall, for request: Request) async throws -> Bool {
        let partner = call.partnerInternalMerchantIdentifier
        return try await turns.run(partner) {
            // By now whoever made it may have closed it, or made another.
            guard let open = try await self.repository.read({ try $0.openCall(of: partner) }) else { return true }
            return try await self.settle(open, for: request)
        }
    }
}
