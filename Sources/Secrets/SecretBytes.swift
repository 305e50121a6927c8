import Glibc

/// Secret bytes in memory that has one owner and is overwritten before it is freed.
///
/// The type is noncopyable and conforms to no protocol except `Sendable`. So a value cannot be interpolated, reflected,
/// compared or encoded. The bytes are accessible only inside a closure.
package struct SecretBytes: ~Copyable, @unchecked Sendable {
    // @unchecked Sendable is safe: the memory has one owner, only the initializer writes it, and deinit frees it once.
    private let memory: UnsafeMutableRawBufferPointer

    /// Allocates `count` zeroed bytes and passes them to `fill`. If `fill` throws, the bytes are wiped and freed.
    package init(count: Int, filledBy fill: (UnsafeMutableRawBufferPointer) throws -> Void) rethrows {
        memory = .allocate(byteCount: count, alignment: 16)
        _ = memory.initializeMemory(as: UInt8.self, repeating: 0)
        // All properties are initialized here, so deinit wipes and frees the memory if `fill` throws.
        try fill(memory)
    }

    /// Copies bytes. The caller must wipe the original.
    package init(copying bytes: some Collection<UInt8>) {
        self.init(count: bytes.count) { $0.copyBytes(from: bytes) }
    }

    deinit {
        if let start = memory.baseAddress { explicit_bzero(start, memory.count) }
        memory.deallocate()
    }

    package var count: Int { memory.count }

    /// Calls a closure with the bytes. The pointer is valid only during the call.
    package borrowing func withUnsafeBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(memory))
    }
}
