import LocalSocket
import RESTKit
import Synchronization
import Testing

@Suite struct ReadConcurrencyTests {
    private final class Counts: Sendable {
        let running = Mutex(0)
        let most = Mutex(0)

        func begin() {
            let now = running.withLock { running in
                running += 1
                return running
            }
            most.withLock { $0 = max($0, now) }
        }

        func end() { running.withLock { $0 -= 1 } }
    }

    @Test("the number of one user's concurrent reads is limited, and each read is run")
    func bounded() async throws {
        let (limiter, counts) = (ReadConcurrency(maximumPerUser: 4), Counts())
        let done = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<200 {
                group.addTask {
                    try await limiter.run(for: .user(uid: 1)) {
                        counts.begin()
                        for _ in 0..<10 { await Task.yield() }
                        counts.end()
                        return number
                    }
                }
            }
            return try await group.reduce(into: Set<Int>()) { $0.insert($1) }
        }
        #expect(done.count == 200)
        #expect(counts.most.withLock { $0 } <= 4)
    }

    @Test("a user's reads do not wait for another user's")
    func apart() async throws {
        let limiter = ReadConcurrency(maximumPerUser: 1)
        let (held, release) = AsyncStream.makeStream(of: Void.self)
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await limiter.run(for: .user(uid: 1)) {
                    begin.finish()
                    for await _ in held {}
                }
            }
            for await _ in begun {}
            let answer = try await limiter.run(for: .user(uid: 2)) { 7 }
            #expect(answer == 7)
            release.finish()
            try await group.waitForAll()
        }
    }

    @Test("after a read that fails, the next read is run")
    func failing() async throws {
        struct Failure: Error {}
        let limiter = ReadConcurrency(maximumPerUser: 1)
        for _ in 0..<3 {
            await #expect(throws: Failure.self) { try await limiter.run(for: .withoutPermit) { throw Failure() } }
        }
        #expect(try await limiter.run(for: .withoutPermit) { 1 } == 1)
    }
}
