import Dispatch
import MerchantCore
import PostgresStore
import Testing

@Suite struct JobQueueTests {
    private let jobs = JobQueue(threads: 1, longest: 1)
    private let gate = DispatchSemaphore(value: 0)

    struct Failure: Error {}

    /// Starts a job that occupies the only thread until the gate opens, and a second job that waits for the thread.
    private func startJobs(
        waitingAtMost limit: Duration
    ) async throws -> (first: Task<Int, any Error>, second: Task<Int, any Error>) {
        let began = DispatchSemaphore(value: 0)
        let first = Task { [jobs, gate] in
            try await jobs.run(waitingAtMost: .seconds(60)) {
                began.signal()
                gate.wait()
                return 1
            }
        }
        try await eventually { began.wait(timeout: .now()) == .success }
        let second = Task { [jobs] in try await jobs.run(waitingAtMost: limit) { 2 } }
        try await eventually { jobs.waitingCount == 1 }
        return (first, second)
    }

    @Test func `a job that has waited too long for a thread is refused, and later jobs run`() async throws {
        let (first, second) = try await startJobs(waitingAtMost: .milliseconds(1))
        let limit = ContinuousClock.now + .milliseconds(1)
        try await eventually { ContinuousClock.now > limit }
        gate.signal()
        #expect(try await first.value == 1)
        #expect(await refusal { _ = try await second.value }?.code == .overloaded)
        #expect(try await jobs.run(waitingAtMost: .seconds(60)) { 3 } == 3)
        await #expect(throws: Failure.self) { try await jobs.run(waitingAtMost: .seconds(60)) { throw Failure() } }
    }

    @Test func `a job within the time limit runs, and a job beyond the length of the queue is refused`() async throws {
        let (first, second) = try await startJobs(waitingAtMost: .seconds(60))
        let third = await refusal { _ = try await jobs.run(waitingAtMost: .seconds(60)) { 3 } }
        #expect(third?.code == .overloaded)
        gate.signal()
        #expect(try await [first.value, second.value] == [1, 2])
    }
}
