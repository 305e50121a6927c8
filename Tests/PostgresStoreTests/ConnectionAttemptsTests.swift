import Dispatch
import PostgresStore
import Synchronization
import Testing

@Suite struct ConnectionAttemptsTests {
    struct Unreachable: Error, Hashable { let number: Int }

    private func fail(_ number: Int, _ attempts: ConnectionAttempts) -> Unreachable? {
        #expect(throws: Unreachable.self) { try attempts.attempt { throw Unreachable(number: number) } }
    }

    @Test func `after a slow attempt has failed, further attempts fail at once with its error`() {
        let attempts = ConnectionAttempts(slow: .zero, pause: .seconds(3600))
        #expect(fail(1, attempts)?.number == 1)
        for number in 2..<5 { #expect(fail(number, attempts)?.number == 1) }
    }

    @Test func `an attempt that fails quickly has no effect on further attempts`() throws {
        let attempts = ConnectionAttempts(slow: .seconds(3600), pause: .seconds(3600))
        for number in 1..<4 { #expect(fail(number, attempts)?.number == number) }
        #expect(try attempts.attempt { 5 } == 5)
    }

    @Test func `after the pause one thread tries again, and the others fail until it succeeds`() async throws {
        let attempts = ConnectionAttempts(slow: .zero, pause: .zero)
        for number in 1..<3 { #expect(fail(number, attempts)?.number == number) }
        let (began, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let connections = Mutex(0)
        let retry = BlockingRun {
            try? attempts.attempt {
                began.signal()
                gate.wait()
                connections.withLock { $0 += 1 }
            }
        }
        try await eventually { began.wait(timeout: .now()) == .success }
        for number in 3..<6 { #expect(fail(number, attempts)?.number == 2) }
        gate.signal()
        retry.wait()
        #expect(connections.withLock { $0 } == 1)
        #expect(try attempts.attempt { try attempts.attempt { 6 } } == 6)
    }
}
