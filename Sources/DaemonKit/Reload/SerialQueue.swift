/// Runs operations one after another, in the order of their arrival.
actor SerialQueue {
    private var isBusy = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func run<Result: Sendable>(_ operation: @Sendable () async throws -> Result) async throws -> Result {
        if isBusy { await withCheckedContinuation { waiting.append($0) } }
        isBusy = true
        defer { next() }
        return try await operation()
    }

    /// Lets the next operation run. If one waits, the queue stays busy, so that an operation that arrives now cannot
    /// overtake it.
    private func next() {
        if waiting.isEmpty { isBusy = false } else { waiting.removeFirst().resume() }
    }
}
