import Dispatch

/// A thread for work that takes a processor long, one piece after the other: reading a file whose maker chose how often its
/// passphrase is hashed, or searching for primes.
///
/// The language's own threads are as many as the machine has cores, and payments are decrypted on them: a few imports at
/// once would hold all of them.
final class SlowWork: TaskExecutor {
    static let imports = SlowWork("imports")
    static let generation = SlowWork("generation")

    private let queue: DispatchQueue

    private init(_ label: String) { queue = DispatchQueue(label: label) }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }

    /// Runs the work, and whatever it calls that is not an actor's, on this thread.
    func run<Result>(_ work: () async throws -> Result) async rethrows -> Result {
        try await withTaskExecutorPreference(self, operation: work)
    }
}
