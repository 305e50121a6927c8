import Glibc
import LocalSocket

/// Room that is given up where a start finds the disk full: SQLite's shared memory and the sockets take some, and payments are
/// not to wait for somebody who makes room.
struct DiskReserve {
    /// In bytes: enough for several starts, each of which others may follow who take what the daemon gives back.
    private static let size = 1 << 20
    /// What one start may need, in bytes: the shared memory of two databases takes 64 KiB, the directories of two sockets 8.
    private static let share = 192 << 10

    let directory: String
    private var path: String { "\(directory)/merchantkeyd.reserve" }

    /// What somebody is told of; nil where there is room enough, or nobody knows.
    var lack: String? {
        guard let (room, total) = space else { return nil }
        let least = min(1 << 20, total / 32)
        return room >= least
            ? nil : "\(room >> 10) KiB are free on the file system of \(directory), expected \(least >> 10) at least"
    }

    /// Bytes that are free for our user, and all.
    private var space: (room: Int, total: Int)? {
        var status = statvfs()
        guard statvfs(directory, &status) == 0 else { return nil }
        let unit = Int(status.f_frsize)
        return (Int(status.f_bavail) * unit, Int(status.f_blocks) * unit)
    }

    /// Gives up a share of it where it is needed. For whoever holds the directory's lock.
    func release() {
        var found = stat()
        guard let space, space.room < Self.share, lstat(path, &found) == 0, found.st_mode & S_IFMT == S_IFREG else {
            return
        }
        _ = truncate(path, max(0, found.st_size - off_t(Self.share)))
    }

    /// Waits until somebody listens on all of `sockets`, two seconds at most, and keeps it: not before the start has taken what
    /// it needs, and at once then, because others take what is free as well.
    func keep(onceServing sockets: [String]) async throws {
        for _ in 0..<100 where !sockets.allSatisfy(UnixListener.isListenedOn) {
            try await Task.sleep(for: .milliseconds(20))
        }
        keep()
    }

    /// Sets aside what is missing of it, as far as there is room: what comes free on a full disk is for the next start first.
    func keep() {
        // No large part of a small file system.
        let size = min(Self.size, (space?.total ?? 0) / 16)
        let file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { return }
        defer { close(file) }
        var found = stat()
        guard fstat(file, &found) == 0, found.st_size < size else { return }
        // Written, not only promised: some file systems promise what they do not have. What does not fit is not written.
        let zeros = [UInt8](repeating: 0, count: size - Int(found.st_size))
        _ = write(file, zeros, zeros.count)
    }
}
