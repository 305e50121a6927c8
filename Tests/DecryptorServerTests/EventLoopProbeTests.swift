import DecryptorServer
import Dispatch
import NIOCore
import NIOPosix
import Testing

/// The probe with which the watchdog checks that every event loop runs its tasks.
@Suite(.timeLimit(.minutes(1))) struct EventLoopProbeTests {
    @Test func `the probe answers when every event loop runs its tasks, and not while one is blocked`() async throws {
        let loops = MultiThreadedEventLoopGroup(numberOfThreads: 2)
        let probe = EventLoopProbe()
        probe.watch(Array(loops.makeIterator()))
        let (answers, answer) = AsyncStream.makeStream(of: Int.self)
        var iterator = answers.makeAsyncIterator()
        probe.ask { answer.yield(1) }
        #expect(await iterator.next() == 1)

        let (blocked, unblock) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let (hanging, working) = (loops.next(), loops.next())
        hanging.execute {
            blocked.signal()
            unblock.wait()
        }
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                blocked.wait()
                continuation.resume()
            }
        }
        probe.ask { answer.yield(2) }
        // The other loop has run its tasks, so a premature answer would be in the stream by now.
        try await working.submit {}.get()
        answer.yield(3)
        #expect(await iterator.next() == 3)
        unblock.signal()
        #expect(await iterator.next() == 2)
        try await loops.shutdownGracefully()
    }

    @Test func `the probe of a server that does not run answers at once`() async {
        let (answers, answer) = AsyncStream.makeStream(of: Void.self)
        EventLoopProbe().ask { answer.finish() }
        for await _ in answers {}
    }
}
