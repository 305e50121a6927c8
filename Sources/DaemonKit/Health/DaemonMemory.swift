import CLinux
import Foundation

/// The memory of this process, in bytes.
package struct DaemonMemory: Hashable, Sendable {
    /// Resident memory that is not backed by a file, such as the heap and the stacks.
    package let anonymousBytes: Int
    /// Memory that malloc(3) has allocated and that has not been freed.
    package let allocatedBytes: Int

    /// The approximate amount of memory that was freed, but that the allocator has not returned to the operating
    /// system.
    package var freedBytes: Int { max(0, anonymousBytes - allocatedBytes) }

    package init(anonymousBytes: Int, allocatedBytes: Int) {
        self.anonymousBytes = anonymousBytes
        self.allocatedBytes = allocatedBytes
    }

    /// nil if the operating system does not report the memory of the process.
    package static var current: DaemonMemory? {
        // The second number is the resident size, and the third the part of it that is backed by files. Both are in
        // pages: proc_pid_statm(5).
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return nil }
        let sizes = text.split(separator: " ").compactMap { Int($0) }
        guard sizes.count > 2 else { return nil }
        return DaemonMemory(
            anonymousBytes: (sizes[1] - sizes[2]) * sysconf(Int32(_SC_PAGESIZE)),
            allocatedBytes: Int(clinux_allocated_bytes()))
    }
}
