import Glibc
import LocalSocket

/// A spare file that a start shrinks if the disk is full. The start needs space for SQLite's shared memory and for the sockets, and
/// payments must not wait until an operator frees space.
struct DiskReserve {
    /// The size of the file in bytes: enough for several starts, because other programs may use the space that a start frees.
    private static let size = 1 << 20
    /// What one start needs, in bytes: the shared memory of two databases takes 64 KiB, the directories of two sockets 8 KiB.
    private static let share = 192 << 10

    let directory: String
    private var path: String { "\(directory)/merchantkeyd.reserve" }

    /// Why there is too little space; nil if there is enough, or the free space is unknown.
    var shortage: String? {
        guard let (free, total) = space else { return nil }
        let least = min(1 << 20, total / 32)
        return free >= least
            ? nil
            : "\(free >> 10) KiB are free on the file system of \(directory), expected at least \(least >> 10) KiB"
    }

    /// The bytes that the daemon's user can still write, and the size of the file system.
    private var space: (free: Int, total: Int)? {
        var status = statvfs()
        guard statvfs(directory, &status) == 0 else { return nil }
        let unit = Int(status.f_frsize)
        return (Int(status.f_bavail) * unit, Int(status.f_blocks) * unit)
    }

    /// Shrinks the file by one share if the space is needed. Call with the directory locked.
    func release() {
        guard let space, space.free < Self.share, let found = FileStatus(of: path), found.kind == .regular else {
            return
        }
        _ = truncate(path, off_t(max(0, found.size - Self.share)))
    }

    /// Waits until the daemon listens on all of `sockets`, at most two seconds, then fills the file: not before the start has the
    /// space that it needs, and not later, because other programs take free space too.
    func keep(onceServing sockets: [String]) async throws {
        for _ in 0..<100 where !sockets.allSatisfy(UnixListener.isListenedOn) {
            try await Task.sleep(for: .milliseconds(20))
        }
        keep()
    }

    /// Fills the file as far as there is space. On a full disk, space that becomes free is reserved for the next start first.
    func keep() {
        // Takes no large part of a small file system.
        let size = min(Self.size, (space?.total ?? 0) / 16)
        let file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { return }
        defer { close(file) }
        guard let found = FileStatus(descriptor: file), found.size < size else { return }
        // Writes zeros, because some file systems allocate space that they do not have. A short write is fine.
        let zeros = [UInt8](repeating: 0, count: size - found.size)
        _ = write(file, zeros, zeros.count)
    }
}
