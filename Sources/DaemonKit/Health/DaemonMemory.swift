import CLinux
import Foundation

/// The memory of this process, in bytes.
package struct DaemonMemory: Hashable, Sendable {
    /// Memory that holds no file: heap, stacks and the like.
    package let anonymousBytes: Int
    /// What malloc(3) has handed out and free(3) has not taken back.
    package let allocatedBytes: Int

    /// About what free(3) took back and did not return to the system.
    package var freedBytes: Int { max(0, anonymousBytes - allocatedBytes) }

    package init(anonymousBytes: Int, allocatedBytes: Int) {
        self.anonymousBytes = anonymousBytes
        self.allocatedBytes = allocatedBytes
    }

    /// nil if the system does not say how much memory the process has.
    package static var current: DaemonMemory? {
        // The second number is the resident size and the third what of it holds files, in pages: proc_pid_statm(5).
        guard let page = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return nil }
        let sizes = page.split(separator: " ").compactMap { Int($0) }
        guard sizes.count > 2 else { return nil }
        return DaemonMemory(
            anonymousBytes: (sizes[1] - sizes[2]) * sysconf(Int32(_SC_PAGESIZE)),
            allocatedBytes: Int(clinux_allocated_bytes()))
    }
}
