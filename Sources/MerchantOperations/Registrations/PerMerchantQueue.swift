import Vocabulary

/// Lets one piece of work at a time go on for one merchant, and a few for all: Apple is asked in order for each, and
/// never by more than ``width`` at once.
actor PerMerchantQueue {
    static let width = 16

    private var taken: Set<PartnerInternalMerchantIdentifier> = []
    private var waiting: [PartnerInternalMerchantIdentifier: [CheckedContinuation<Void, Never>]] = [:]
    private var free = width
    private var waitingForAny: [CheckedContinuation<Void, Never>] = []

    /// Runs `body` when its turn has come. A caller who is cancelled meanwhile cancels nothing: what Apple was asked has
    /// an outcome, and it is to be recorded.
    nonisolated func run<Result: Sendable>(
        _ partner: PartnerInternalMerchantIdentifier, _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        try await Task {
            await self.begin(partner)
            do {
                let result = try await body()
                await self.end(partner)
                return result
            } catch {
                await self.end(partner)
                throw error
            }
        }.value
    }

    private func begin(_ partner: PartnerInternalMerchantIdentifier) async {
        if !taken.insert(partner).inserted {
            await withCheckedContinuation { waiting[partner, default: []].append($0) }
        }
        // Who has the merchant's turn waits for nobody who waits for the merchant, so that this ends.
        guard free == 0 else {
            free -= 1
            return
        }
        await withCheckedContinuation { waitingForAny.append($0) }
    }

    /// Hands both on rather than freeing them, so that nobody who comes later is served first.
    private func end(_ partner: PartnerInternalMerchantIdentifier) {
        if waitingForAny.isEmpty { free += 1 } else { waitingForAny.removeFirst().resume() }
        guard var queue = waiting[partner] else {
            taken.remove(partner)
            return
        }
        queue.removeFirst().resume()
        waiting[partner] = queue.isEmpty ? nil : queue
    }
}
