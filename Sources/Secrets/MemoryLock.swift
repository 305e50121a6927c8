import Glibc

/// Locks memory, so that secrets are not written to swap.
package enum MemoryLock {
    /// Locks the memory pages that contain `bytes` until the process exits. The pages are never unlocked, because a
    /// page can also contain other secrets.
    ///
    /// - Returns: false if the pages cannot be locked, usually because of the limit RLIMIT_MEMLOCK.
    package static func lock(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let start = bytes.baseAddress, !bytes.isEmpty else { return true }
        return mlock(start, bytes.count) == 0
    }
}
