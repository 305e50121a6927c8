import Glibc

/// Bytes that must not outlive their use: owned once, never copied, overwritten before their memory is given back.
///
/// It cannot be interpolated, reflected, compared or encoded: being noncopyable, it conforms to nothing. Access is by
/// borrowing the memory for the length of a closure.
package struct SecretBytes: ~Copyable, @unchecked Sendable {
    // Proof for @unchecked Sendable: the memory has one owner, is written only by initializers, and is freed once in deinit.
    private let memory: UnsafeMutableRawBufferPointer

    /// Fills `count` bytes by `fill`; wipes and frees them if it throws.
    package init(count: Int, filledBy fill: (UnsafeMutableRawBufferPointer) throws -> Void) rethrows {
        memory = .allocate(byteCount: count, alignment: 16)
        _ = memory.initializeMemory(as: UInt8.self, repeating: 0)
        // Fully initialized by now: should this throw, deinit wipes and frees.
        try fill(memory)
    }

    /// Takes the bytes over from memory that the caller wipes.
    package init(copying bytes: some Collection<UInt8>) {
        self.init(count: bytes.count) { $0.copyBytes(from: bytes) }
    }

    deinit {
        if let start = memory.baseAddress { explicit_bzero(start, memory.count) }
        memory.deallocate()
    }

    package var count: Int { memory.count }

    package borrowing func withUnsafeBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(memory))
    }
}
