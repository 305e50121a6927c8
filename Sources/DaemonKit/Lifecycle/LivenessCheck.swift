import Synchronization

/// Asks parts of the daemon for a sign of life, and waits for the answers.
package final class LivenessCheck: Sendable {
    package struct Part: Sendable {
        let name: String
        let ask: @Sendable (_ answered: @escaping @Sendable () -> Void) -> Void

        /// - Parameter ask: asks the part, and calls `answered` once when the part has answered. `ask` must not block.
        package init(_ name: String, ask: @escaping @Sendable (_ answered: @escaping @Sendable () -> Void) -> Void) {
            self.name = name
            self.ask = ask
        }
    }

    private struct State: Sendable {
        /// The parts that were asked and have not answered.
        var silent: Set<String> = []
        /// Finished when no part is silent any more.
        var finishWhenAllAnswered: AsyncStream<Void>.Continuation?
    }

    private let parts: [Part]
    private let state = Mutex(State())

    /// - Parameter parts: the parts to ask, each with a name of its own.
    package init(_ parts: [Part]) { self.parts = parts }

    /// Asks every part. A part that has not answered an earlier question is not asked again: its late answer is a sign
    /// of life, too.
    ///
    /// - Returns: the names of the parts that did not answer in time, in alphabetical order.
    package func silentParts(after limit: Duration) async -> [String] {
        let (allAnswered, finishWhenAllAnswered) = AsyncStream.makeStream(of: Void.self)
        let asked = state.withLock { state in
            let asked = parts.filter { !state.silent.contains($0.name) }
            state.silent.formUnion(asked.map(\.name))
            state.finishWhenAllAnswered = finishWhenAllAnswered
            return asked
        }
        for part in asked { part.ask { self.didAnswer(part.name) } }
        await withTaskGroup(of: Void.self) { tasks in
            tasks.addTask { for await _ in allAnswered {} }
            // The only error is a cancellation, which also stops the wait.
            tasks.addTask { try? await Task.sleep(for: limit) }
            _ = await tasks.next()
            tasks.cancelAll()
        }
        return state.withLock { $0.silent.sorted() }
    }

    private func didAnswer(_ name: String) {
        state.withLock { state in
            state.silent.remove(name)
            if state.silent.isEmpty { state.finishWhenAllAnswered?.finish() }
        }
    }
}
