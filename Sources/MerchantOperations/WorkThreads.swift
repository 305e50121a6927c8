import Dispatch

/// Threads for work that takes a processor long, or that waits long: for a disk that hangs, a network's file system, another
/// program.
///
/// The language's own threads are as many as the machine has cores, and payments are decrypted on them: a few such pieces of
/// work at once would hold all of them.
package final class WorkThreads: TaskExecutor {
    /// One after the other: reads files whose makers chose how often a passphrase is hashed.
    static let imports = WorkThreads(DispatchQueue(label: "imports"))
    /// One after the other: searches for primes.
    static let generation = WorkThreads(DispatchQueue(label: "generation"))
    /// As many as wait: Dispatch starts another thread where all of its wait.
    package static let waiting = WorkThreads(DispatchQueue(label: "waiting", attributes: .concurrent))

    private let queue: DispatchQueue

    private init(_ queue: DispatchQueue) { self.queue = queue }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }

    /// Runs the work, and whatever it calls that is not an actor's, on these threads.
    package func run<Result>(_ work: () async throws -> Result) async rethrows -> Result {
        try await withTaskExecutorPreference(self, operation: work)
    }
}
