import Glibc
import LocalSocket

/// Room that is given up where a start finds the disk full: SQLite's shared memory and the sockets take some, and payments are
/// not to wait for somebody who makes room.
struct DiskReserve {
    /// In bytes: enough for several starts, each of which others may follow who take what the daemon gives back.
    private static let size = 1 << 20
    /// What one start may need, in bytes: the shared memory of two databases takes 64 KiB, the directories of two sockets 8.
    private static let share = 192 << 10
    /// With less than this left, in bytes, somebody is told.
    static let leastRoom = 1 << 20

    let directory: String
    private var path: String { "\(directory)/merchantkeyd.reserve" }

    /// Bytes that are free for our user; nil where nobody knows.
    var room: Int? {
        var status = statvfs()
        return statvfs(directory, &status) == 0 ? Int(status.f_bavail) * Int(status.f_frsize) : nil
    }

    /// Gives up a share of it where it is needed. For whoever holds the directory's lock.
    func release() {
        var found = stat()
        guard let room, room < Self.share, lstat(path, &found) == 0, found.st_mode & S_IFMT == S_IFREG else { return }
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
        let file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { return }
        defer { close(file) }
        var found = stat()
        guard fstat(file, &found) == 0, found.st_size < Self.size else { return }
        // Written, not only promised: some file systems promise what they do not have. What does not fit is not written.
        let zeros = [UInt8](repeating: 0, count: Self.size - Int(found.st_size))
        _ = write(file, zeros, zeros.count)
    }
}
