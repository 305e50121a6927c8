import Vocabulary

/// Runs at most one call to Apple for each merchant at a time, first come first served, and at most ``width`` calls in all.
actor PerMerchantQueue {
    static let width = 16

    private var taken: Set<PartnerInternalMerchantIdentifier> = []
    private var waiting: [PartnerInternalMerchantIdentifier: [CheckedContinuation<Void, Never>]] = [:]
    private var free = width
    private var waitingForAny: [CheckedContinuation<Void, Never>] = []

    /// Runs `body` in its turn. Cancelling the caller does not cancel `body`, because the outcome of a call to Apple must be
    /// recorded.
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
        // The holder of a merchant's turn never waits for a task that waits for the same merchant, so there is no deadlock.
        guard free == 0 else {
            free -= 1
            return
        }
        await withCheckedContinuation { waitingForAny.append($0) }
    }

    /// Passes both on to the next waiting task rather than freeing them, so that tasks run in the order of their arrival.
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
