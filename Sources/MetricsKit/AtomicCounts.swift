import Synchronization

/// A fixed number of counts in one block of memory. An addition is one atomic instruction, without a lock or an
/// allocation.
package final class AtomicCounts: @unchecked Sendable {
    // Proof for @unchecked Sendable: the pointer never changes, and every access to the memory is atomic.
    private let memory: UnsafeMutablePointer<Atomic<Int>>
    package let count: Int

    package init(count: Int) {
        self.count = count
        memory = .allocate(capacity: count)
        for index in 0..<count { (memory + index).initialize(to: Atomic<Int>(0)) }
    }

    deinit {
        memory.deinitialize(count: count)
        memory.deallocate()
    }

    package func add(_ amount: Int = 1, at index: Int) {
        precondition(index >= 0 && index < count, "the index of a count is in range")
        memory[index].wrappingAdd(amount, ordering: .relaxed)
    }

    package subscript(index: Int) -> Int {
        precondition(index >= 0 && index < count, "the index of a count is in range")
        return memory[index].load(ordering: .relaxed)
    }
}
