import Glibc

/// Keeps the pages that hold a secret out of swap.
package enum MemoryLock {
    /// Locks the pages that hold `bytes`, for the rest of the process's life: other secrets may lie on them.
    ///
    /// - Returns: whether the limit (RLIMIT_MEMLOCK) allowed it.
    package static func lock(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let start = bytes.baseAddress, !bytes.isEmpty else { return true }
        return mlock(start, bytes.count) == 0
    }
}
