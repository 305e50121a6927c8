import Synchronization

/// Limits how many calls run at the same time. Further calls wait, in the order of their arrival. The number of calls
/// that wait is limited too, and a call whose task is cancelled does not wait any longer.
final class CallSlots: Sendable {
    /// The queue is full: the largest permitted number of calls waits already.
    struct AllTaken: Error {}

    private struct State {
        var free: Int
        var waiting: [(number: Int, continuation: CheckedContinuation<Void, any Error>)] = []
        var nextNumber = 0
    }

    private let longestQueue: Int
    private let state: Mutex<State>

    /// - Parameters:
    ///   - count: how many calls may run at the same time.
    ///   - longestQueue: how many calls may wait.
    init(count: Int, longestQueue: Int) {
        self.longestQueue = longestQueue
        state = Mutex(State(free: count))
    }

    /// - Throws: ``AllTaken``, `CancellationError`, or what `call` throws.
    func run<Result: Sendable>(_ call: () async throws -> Result) async throws -> Result {
        try await begin()
        defer { end() }
        return try await call()
    }

    private func begin() async throws {
        let number = state.withLock { state in
            state.nextNumber += 1
            return state.nextNumber
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let outcome: Swift.Result<Void, any Error>? = state.withLock { state in
                    // If the task is cancelled later, the handler below finds the continuation.
                    if Task.isCancelled { return .failure(CancellationError()) }
                    if state.free > 0 {
                        state.free -= 1
                        return .success(())
                    }
                    guard state.waiting.count < longestQueue else { return .failure(AllTaken()) }
                    state.waiting.append((number, continuation))
                    return nil
                }
                if let outcome { continuation.resume(with: outcome) }
            }
        } onCancel: {
            let cancelled = state.withLock { state in
                state.waiting.firstIndex { $0.number == number }.map { state.waiting.remove(at: $0).continuation }
            }
            cancelled?.resume(throwing: CancellationError())
        }
    }

    /// The call that has waited longest takes the place of the call that ended.
    private func end() {
        let next = state.withLock { state -> CheckedContinuation<Void, any Error>? in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst().continuation }
            state.free += 1
            return nil
        }
        next?.resume()
    }
}
