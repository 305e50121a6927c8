import Dispatch
import MerchantCore
import Synchronization

/// Runs blocking jobs on a bounded number of threads of their own, so that none blocks a thread of Swift's concurrency
/// pool.
final class JobQueue: Sendable {
    private struct State {
        var waiting: [@Sendable () -> Void] = []
        /// The index in `waiting` of the first job.
        var first = 0
        var running = 0

        mutating func next() -> (@Sendable () -> Void)? {
            // Removes the finished jobs when they are half of the array, so that the array does not grow without limit.
            if first * 2 >= waiting.count {
                waiting.removeFirst(first)
                first = 0
            }
            guard first < waiting.count else { return nil }
            defer { first += 1 }
            return waiting[first]
        }
    }

    private let threads: Int
    private let longest: Int
    private let queue = DispatchQueue(label: "merchantkeyd.postgresql", attributes: .concurrent)
    private let state = Mutex(State())

    /// - Parameters:
    ///   - threads: how many jobs run at the same time.
    ///   - longest: how many jobs can wait.
    init(threads: Int, longest: Int) {
        self.threads = threads
        self.longest = longest
    }

    /// - Throws: `overloaded` if too many jobs wait. The job is then not run.
    func add(_ job: @escaping @Sendable () -> Void) throws(MerchantError) {
        let mustStart: Bool? = state.withLock { state in
            guard state.waiting.count - state.first < longest else { return nil }
            state.waiting.append(job)
            guard state.running < threads else { return false }
            state.running += 1
            return true
        }
        guard let mustStart else {
            throw MerchantError(.overloaded, "\(longest) reads already wait for the database: try again")
        }
        if mustStart { queue.async { self.run() } }
    }

    private func run() {
        while true {
            let job = state.withLock { state -> (@Sendable () -> Void)? in
                if let job = state.next() { return job }
                state.running -= 1
                return nil
            }
            guard let job else { return }
            job()
        }
    }
}
