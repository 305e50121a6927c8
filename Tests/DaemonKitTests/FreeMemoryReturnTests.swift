import DaemonKit
import Logging
import Synchronization
import Testing

@Suite struct FreeMemoryReturnTests {
    /// A process that has allocated 100 MiB. Of its freed memory, all but `unreturnable` MiB can be returned.
    final class FakeProcess: Sendable {
        private let state: Mutex<(freed: Int, returns: Int)>
        private let unreturnable: Int

        init(freed: Int, unreturnable: Int) {
            state = Mutex((freed, 0))
            self.unreturnable = unreturnable
        }

        var returns: Int { state.withLock { $0.returns } }
        func free(_ mebibytes: Int) { state.withLock { $0.freed += mebibytes } }

        var task: FreeMemoryReturn {
            FreeMemoryReturn(
                memory: { [self] in
                    let freed = state.withLock { $0.freed }
                    return DaemonMemory(anonymousBytes: (100 + freed) << 20, allocatedBytes: 100 << 20)
                },
                returnFreeMemory: { [self, unreturnable] in
                    state.withLock { $0 = (min($0.freed, unreturnable), $0.returns + 1) }
                }, logger: Logger(label: "test"))
        }
    }

    @Test func `freed memory is returned only if it is 32 MiB or more`() {
        let process = FakeProcess(freed: 31, unreturnable: 0)
        var task = process.task
        task.run()
        #expect(process.returns == 0)
        process.free(1)
        for _ in 0..<3 { task.run() }
        #expect(process.returns == 1)
    }

    @Test func `memory that could not be returned causes no further attempts`() {
        let process = FakeProcess(freed: 90, unreturnable: 50)
        var task = process.task
        for _ in 0..<3 { task.run() }
        #expect(process.returns == 1)
        process.free(32)
        for _ in 0..<3 { task.run() }
        #expect(process.returns == 2)
    }

    @Test func `the reported memory of this process includes an allocated block`() throws {
        let before = try #require(DaemonMemory.current)
        let block = [UInt8](unsafeUninitializedCapacity: 8 << 20) { bytes, count in
            bytes.initialize(repeating: 1)
            count = bytes.count
        }
        let after = try #require(DaemonMemory.current)
        #expect(after.allocatedBytes - before.allocatedBytes > 7 << 20)
        #expect(after.anonymousBytes > block.count)
    }
}
