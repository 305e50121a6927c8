import Dispatch
import ServiceLifecycle

/// Threads for work that may wait long: for a disk that hangs, a network's file system, another program.
///
/// The language's own threads are as many as the machine has cores, and payments are decrypted on them: two that wait
/// would stop every decryption. Dispatch starts another thread where all of its wait.
final class WaitingThreads: TaskExecutor {
    static let shared = WaitingThreads()

    private let queue = DispatchQueue(label: "waiting", attributes: .concurrent)

    private init() {}

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }

    /// Runs the work, and whatever it calls that is not an actor's, on these threads.
    static func run<Result>(_ work: () async throws -> Result) async rethrows -> Result {
        try await withTaskExecutorPreference(shared, operation: work)
    }
}

/// A service whose work is done on ``WaitingThreads``.
struct OnWaitingThreads<Work: Service>: Service, CustomStringConvertible {
    let work: Work

    init(_ work: Work) { self.work = work }

    func run() async throws { try await WaitingThreads.run { try await work.run() } }

    var description: String { "\(Work.self)" }
}
