import Foundation
import Glibc
import Testing

/// The memory of a process. Unless the test runs as root, the kernel may refuse the access.
struct ProcessMemory: ~Copyable {
    struct Mapping {
        let start, end: UInt64
        /// The permissions, such as `rw-p`.
        let permissions: Substring
        /// A path, or a name such as `[heap]`; nil for memory without a name.
        let name: Substring?
    }

    let descriptor: Int32
    private let process: Int32

    init(of process: Int32) throws {
        descriptor = open("/proc/\(process)/mem", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw CocoaError(.fileReadNoPermission) }
        self.process = process
    }

    deinit { close(descriptor) }

    /// All mappings but those of the kernel.
    func mappings() throws -> [Mapping] {
        // `Data(contentsOf:)` would stop early: the kernel returns one page of lines for each read.
        let list = try FileHandle(forReadingFrom: URL(filePath: "/proc/\(process)/maps")).readToEnd()
        return String(decoding: try #require(list), as: UTF8.self).split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ", omittingEmptySubsequences: true)
            let ends = words[0].split(separator: "-").compactMap { UInt64($0, radix: 16) }
            guard ends.count == 2, !line.contains("[v") else { return nil }
            return Mapping(
                start: ends[0], end: ends[1], permissions: words[1], name: words.count > 5 ? words[5] : nil)
        }
    }
}
