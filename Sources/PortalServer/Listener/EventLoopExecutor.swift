import NIOCore

/// Runs Swift tasks on an event loop of the portal.
///
/// Swift's own thread pool has one thread for each core, and payment tokens are decrypted on it. Requests to the portal
/// therefore do not run there.
final class EventLoopExecutor: TaskExecutor {
    private let eventLoop: any EventLoop

    init(_ eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        eventLoop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

/// The executor of each event loop of a group.
struct EventLoopExecutors: Sendable {
    private let executors: [ObjectIdentifier: EventLoopExecutor]

    init(_ loops: some EventLoopGroup) {
        var executors: [ObjectIdentifier: EventLoopExecutor] = [:]
        for loop in loops.makeIterator() { executors[ObjectIdentifier(loop)] = EventLoopExecutor(loop) }
        self.executors = executors
    }

    subscript(loop: any EventLoop) -> EventLoopExecutor {
        guard let executor = executors[ObjectIdentifier(loop)] else {
            preconditionFailure("a connection belongs to one of the server's event loops")
        }
        return executor
    }
}
