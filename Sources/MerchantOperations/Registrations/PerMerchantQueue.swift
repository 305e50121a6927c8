import Vocabulary

/// Runs tasks that call Apple: at most one for each merchant at a time, and at most ``width`` at a time in all. Tasks
/// for the same merchant run in the order of their arrival.
actor PerMerchantQueue {
    /// At most this many tasks run at a time.
    static let width = 16

    /// The merchants whose lock a task holds. A task holds its merchant's lock while it runs, or waits for a free slot.
    private var locked: Set<PartnerInternalMerchantIdentifier> = []
    /// Tasks that wait for their merchant's lock.
    private var waitingForLock: [PartnerInternalMerchantIdentifier: [CheckedContinuation<Void, Never>]] = [:]
    /// How many further tasks may run now.
    private var freeSlots = width
    /// Tasks that hold their merchant's lock and wait for a free slot.
    private var waitingForSlot: [CheckedContinuation<Void, Never>] = []

    /// Runs `body` when the merchant's lock and a slot are free. If the caller is cancelled, `body` continues, because
    /// the outcome of a call to Apple must be recorded.
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
        if !locked.insert(partner).inserted {
            await withCheckedContinuation { waitingForLock[partner, default: []].append($0) }
        }
        // No deadlock: a task that has a slot holds its merchant's lock already, so it ends without waiting for another
        // task.
        guard freeSlots == 0 else {
            freeSlots -= 1
            return
        }
        await withCheckedContinuation { waitingForSlot.append($0) }
    }

    /// Passes the task's slot and its merchant's lock directly to the tasks that have waited longest, so that a task
    /// that arrives now cannot overtake them.
    private func end(_ partner: PartnerInternalMerchantIdentifier) {
        if waitingForSlot.isEmpty { freeSlots += 1 } else { waitingForSlot.removeFirst().resume() }
        guard var queue = waitingForLock[partner] else {
            locked.remove(partner)
            return
        }
        queue.removeFirst().resume()
        waitingForLock[partner] = queue.isEmpty ? nil : queue
    }
}
