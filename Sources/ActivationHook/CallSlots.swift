/// Limits how many calls run at the same time. Further calls wait, in the order of their arrival.
actor CallSlots {
    private var free: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// - Parameter count: how many calls may run at the same time.
    init(count: Int) { free = count }

    nonisolated func run<Result: Sendable>(_ call: () async throws -> Result) async throws -> Result {
        await begin()
        do {
            let result = try await call()
            await end()
            return result
        } catch {
            await end()
            throw error
        }
    }

    private func begin() async {
        guard free == 0 else {
            free -= 1
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    /// The call that has waited longest takes the place of the call that ended.
    private func end() {
        if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
    }
}
