import Vocabulary

/// Runs at most one call to Apple for each merchant at a time, first come first served, and at most ``width`` calls in
/// all.
actor PerMerchantQueue {
    static let width = 16

    /// The merchants for which a task has the turn.
    private var taken: Set<PartnerInternalMerchantIdentifier> = []
    /// Tasks that wait for their merchant's turn.
    private var waiting: [PartnerInternalMerchantIdentifier: [CheckedContinuation<Void, Never>]] = [:]
    /// How many further calls may run now.
    private var free = width
    /// Tasks that have their merchant's turn and wait until fewer than ``width`` calls run.
    private var waitingForAny: [CheckedContinuation<Void, Never>] = []

    /// Runs `body` when it is its turn. If the caller is cancelled, `body` continues, because the outcome of a call to
    /// Apple must be recorded.
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
        // No deadlock: every running call already has its merchant's turn, so it ends without waiting for another task.
        guard free == 0 else {
            free -= 1
            return
        }
        await withCheckedContinuation { waitingForAny.append($0) }
    }

    /// Ends a call. The next waiting tasks get its place and its merchant's turn directly, so that tasks run in the
    /// order of their arrival.
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
