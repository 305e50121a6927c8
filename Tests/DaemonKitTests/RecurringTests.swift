import DaemonKit
import Logging
import MerchantCore
import ServiceLifecycle
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1))) struct RecurringTests {
    /// What a task did, seen from outside.
    final class Record: Sendable {
        let rounds = Mutex<[Int]>([])
        let roundsAtFinish = Mutex<[Int]>([])
        let (begun, continuation) = AsyncStream.makeStream(of: Int.self)
    }

    struct Counter: RecurringTask {
        let record: Record
        var pause: Duration?
        var count = 0

        var nextPause: Duration? { pause }

        mutating func run() async throws {
            count += 1
            record.rounds.withLock { [count] in $0.append(count) }
            record.continuation.yield(count)
        }

        func finish() async { record.roundsAtFinish.withLock { $0.append(count) } }
    }

    /// Runs the service until the task began round `last`, then shuts down gracefully.
    private func run(_ service: some Service, _ record: Record, untilRound last: Int) async throws {
        let group = ServiceGroup(services: [service], logger: Logger(label: "test"))
        async let ended: Void = group.run()
        for await round in record.begun where round >= last { break }
        await group.triggerGracefulShutdown()
        try await ended
    }

    @Test(arguments: [false, true])
    func `a task keeps its state from round to round, and finishes once, with this state`(mayBlock: Bool) async throws {
        let record = Record()
        try await run(
            Recurring(every: .milliseconds(1), mayBlock: mayBlock, Counter(record: record)), record, untilRound: 3)
        let rounds = record.rounds.withLock { $0 }
        #expect(rounds.count >= 3 && rounds == Array(1...rounds.count))
        #expect(record.roundsAtFinish.withLock { $0 } == [rounds.count])
    }

    @Test func `a shutdown does not wait for the pause between two rounds`() async throws {
        let record = Record()
        try await run(Recurring(every: .seconds(86_400), Counter(record: record)), record, untilRound: 1)
        #expect(record.rounds.withLock { $0 } == [1])
        #expect(record.roundsAtFinish.withLock { $0 } == [1])
    }

    @Test func `the pause that a task asks for replaces the interval`() async throws {
        let record = Record()
        try await run(
            Recurring(every: .seconds(86_400), Counter(record: record, pause: .milliseconds(1))), record,
            untilRound: 2)
        #expect(record.rounds.withLock { $0.count } >= 2)
    }

    @Test func `a change ends the pause between two rounds, also a change during a round`() async throws {
        let record = Record()
        let changes = ChangeSignal()
        let group = ServiceGroup(
            services: [Recurring(every: .seconds(86_400), wokenBy: changes, Counter(record: record))],
            logger: Logger(label: "test"))
        async let ended: Void = group.run()
        for await round in record.begun {
            if round == 3 { break }
            changes.send()
        }
        await group.triggerGracefulShutdown()
        try await ended
        #expect(record.rounds.withLock { Array($0.prefix(3)) } == [1, 2, 3])
    }

    @Test func `a task that starts after one interval runs no round before`() async throws {
        let record = Record()
        let group = ServiceGroup(
            services: [Recurring(every: .seconds(86_400), start: .afterOneInterval, Counter(record: record))],
            logger: Logger(label: "test"))
        async let ended: Void = group.run()
        await group.triggerGracefulShutdown()
        try await ended
        #expect(record.rounds.withLock { $0 } == [])
        #expect(record.roundsAtFinish.withLock { $0 } == [0])
    }

    /// Notes in each round whether the lease is valid.
    struct LeaseWitness: RecurringTask {
        let lease: Lease
        let rounds: AsyncStream<Bool>.Continuation

        func run() async { rounds.yield(lease.isValid) }
    }

    @Test func `a task runs only with its lease`() async throws {
        let (rounds, continuation) = AsyncStream.makeStream(of: Bool.self)
        let lease = Lease()
        let record = Record()
        let group = ServiceGroup(
            services: [
                Recurring(
                    every: .milliseconds(1), with: lease, LeaseWitness(lease: lease, rounds: continuation)),
                Recurring(every: .milliseconds(1), Counter(record: record)),
            ], logger: Logger(label: "test"))
        async let ended: Void = group.run()
        // The task without a lease runs often first. A task that ignored its lease would run too.
        for await round in record.begun where round >= 20 { break }
        lease.setEnd(.now + .seconds(3600))
        for await isValid in rounds {
            #expect(isValid)
            break
        }
        await group.triggerGracefulShutdown()
        try await ended
    }

    /// Notes its runs, and ends at a shutdown or when it is cancelled.
    struct LongWork: Service {
        let runs: AsyncStream<String>.Continuation

        func run() async throws {
            runs.yield("begin")
            try? await cancelWhenGracefulShutdown { try await Task.sleep(for: .seconds(86_400)) }
            runs.yield("end")
        }
    }

    @Test func `a service begins with the lease, ends with it, and begins again with the next one`() async throws {
        let (runs, continuation) = AsyncStream.makeStream(of: String.self)
        let lease = Lease()
        lease.setEnd(.now + .seconds(3600))
        let group = ServiceGroup(
            services: [LeaderOnly(lease, LongWork(runs: continuation))], logger: Logger(label: "test"))
        async let ended: Void = group.run()
        var seen: [String] = []
        for await run in runs {
            seen.append(run)
            switch seen.count {
            case 1: lease.setEnd(.now)
            case 2: lease.setEnd(.now + .seconds(3600))
            case 3: await group.triggerGracefulShutdown()
            default: break
            }
            if seen.count == 4 { break }
        }
        try await ended
        #expect(seen == ["begin", "end", "begin", "end"])
    }
}
