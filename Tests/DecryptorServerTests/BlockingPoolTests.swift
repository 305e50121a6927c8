import DecryptorServer
import Dispatch
import MerchantCore
import NIOCore
import NIOHTTP1
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1))) struct BlockingPoolTests {
    @Test func `work that has waited too long for a thread is refused, and later work runs`() async throws {
        let limit = TimeAmount.seconds(1)
        let pool = BlockingPool(threads: 1, longestWait: limit)
        let response = EncodedResponse(.ok, bodyCapacity: 2) { $0.writeString("{}") }
        let (began, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let (results, continuation) = AsyncStream.makeStream(of: Result<EncodedResponse, any Error>.self)
        let bodies = Mutex(0)
        func submit(_ body: @escaping @Sendable () -> Void) {
            pool.run({
                bodies.withLock { $0 += 1 }
                body()
                return response
            }) { continuation.yield($0) }
        }
        submit {
            began.signal()
            gate.wait()
        }
        while began.wait(timeout: .now()) != .success { try await Task.sleep(for: .milliseconds(2)) }
        submit {}
        let late = NIODeadline.now() + limit
        while NIODeadline.now() <= late { try await Task.sleep(for: .milliseconds(2)) }
        gate.signal()
        var iterator = results.makeAsyncIterator()
        let first = try #require(await iterator.next())
        #expect(try first.get() === response)
        let second = try #require(await iterator.next())
        let refusal = #expect(throws: MerchantError.self) { try second.get() }
        #expect(refusal?.code == .overloaded)
        #expect(bodies.withLock { $0 } == 1)
        #expect(try await pool.run { 3 } == 3)
        try await pool.shutDown()
    }
}
