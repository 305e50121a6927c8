import Glibc

/// The free space of a file system. `status` and `diagnose` apply the same limits to it.
package struct DiskSpace: Equatable, Sendable {
    package enum Level: Equatable, Sendable {
        case sufficient
        /// The operator should free space soon.
        case low
        /// Writes are about to fail.
        case nearlyFull
    }

    /// The bytes that the daemon's user can still write.
    package let free: Int
    /// The size of the file system in bytes.
    package let total: Int
    package let isReadOnly: Bool

    package init(free: Int, total: Int, isReadOnly: Bool = false) {
        self.free = free
        self.total = total
        self.isReadOnly = isReadOnly
    }

    /// Nil if the file system cannot be examined; `errno` contains the reason.
    package init?(of directory: String) {
        var status = statvfs()
        guard statvfs(directory, &status) == 0 else { return nil }
        let blockSize = Int(status.f_frsize)
        self.init(
            free: Int(status.f_bavail) * blockSize, total: Int(status.f_blocks) * blockSize,
            isReadOnly: status.f_flag & UInt(ST_RDONLY) != 0)
    }

    package var level: Level {
        free < nearlyFullLimit ? .nearlyFull : free < lowLimit ? .low : .sufficient
    }

    /// 1 GiB, or one sixteenth of the file system if that is less.
    private var lowLimit: Int { min(1 << 30, total / 16) }
    private var nearlyFullLimit: Int { min(1 << 20, total / 32) }

    /// What is wrong and what the operator should do; nil if there is enough space.
    package func shortage(in directory: String) -> String? {
        let found = "\(Self.text(free)) are free on the file system of \(directory), expected at least"
        return switch level {
        case .sufficient: nil
        case .low: "\(found) \(Self.text(lowLimit)); free disk space"
        case .nearlyFull: "\(found) \(Self.text(nearlyFullLimit)): changes will be refused; free disk space"
        }
    }

    private static func text(_ bytes: Int) -> String { bytes < 8 << 20 ? "\(bytes >> 10) KiB" : "\(bytes >> 20) MiB" }
}
