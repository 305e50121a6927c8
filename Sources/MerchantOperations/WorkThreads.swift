import Dispatch

/// Threads for long computations, and for work that may block: on a disk, a network file system, or another program.
///
/// Swift's own thread pool has one thread for each core, and payment tokens are decrypted on it. A few long tasks would
/// occupy all of its threads.
package final class WorkThreads: TaskExecutor {
    /// Decrypts imported key files, one at a time. The author of a file chose how often its passphrase is hashed, so
    /// decrypting the file can take long.
    static let imports = WorkThreads(DispatchQueue(label: "imports"))
    /// Generates RSA keys, one at a time.
    static let generation = WorkThreads(DispatchQueue(label: "generation"))
    /// For work that blocks its thread. Dispatch starts further threads while those of this queue are blocked, up to a
    /// limit.
    package static let blocking = WorkThreads(DispatchQueue(label: "blocking", attributes: .concurrent))

    private let queue: DispatchQueue

    private init(_ queue: DispatchQueue) { self.queue = queue }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }

    /// Runs the work on these threads, except for code that is isolated to an actor.
    package func run<Result>(_ work: () async throws -> Result) async rethrows -> Result {
        try await withTaskExecutorPreference(self, operation: work)
    }
}
