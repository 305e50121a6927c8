import Glibc

/// Room that is given up where a start finds the disk full: SQLite's shared memory and the sockets take some, and payments are
/// not to wait for somebody who makes room.
struct DiskReserve {
    /// In bytes: the shared memory of two databases takes 64 KiB, the directories of two sockets 8.
    static let size = 256 << 10
    /// With less than this left, in bytes, somebody is told.
    static let leastRoom = 1 << 20

    let directory: String
    private var path: String { "\(directory)/merchantkeyd.reserve" }

    /// Bytes that are free for our user; nil where nobody knows.
    var room: Int? {
        var status = statvfs()
        return statvfs(directory, &status) == 0 ? Int(status.f_bavail) * Int(status.f_frsize) : nil
    }

    /// Gives it up where it is needed. For whoever holds the directory's lock.
    func release() {
        guard let room, room < Self.size else { return }
        unlink(path)
    }

    /// Sets it aside, where it is not and there is room for four of it. What fails is tried again by the next call.
    func keep() {
        var found = stat()
        guard lstat(path, &found) != 0 || found.st_size != Self.size, let room, room >= 4 * Self.size else { return }
        unlink(path)
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { return }
        defer { close(file) }
        // Written, not only promised: some file systems promise what they do not have.
        let zeros = [UInt8](repeating: 0, count: Self.size)
        if write(file, zeros, zeros.count) != zeros.count { unlink(path) }
    }
}
