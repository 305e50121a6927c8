import Glibc

/// A spare file that the daemon shrinks at its start if the disk is almost full, so that it can serve payments before
/// an operator frees space. A start needs space for SQLite's shared memory files and for the sockets.
struct DiskReserve {
    /// The largest size of the file in bytes: enough for several starts, because other programs may use the space that
    /// a start frees.
    private static let fullSize = 1 << 20
    /// By how many bytes a start shrinks the file, at most. The start needs less: 64 KiB for the shared memory of two
    /// databases and 4 KiB for the directory of each socket.
    static let spacePerStart = 192 << 10

    let directory: String
    private var path: String { "\(directory)/merchantkeyd.reserve" }

    /// The size of the file in bytes; 0 if there is none.
    var size: Int { FileStatus(of: path)?.size ?? 0 }

    private var space: DiskSpace? { DiskSpace(of: directory) }

    /// Shrinks the file by ``spacePerStart`` if less than that is free. Call while the ``InstanceLock`` is held.
    func freeSpaceForStart() {
        guard let space, space.free < Self.spacePerStart, let found = FileStatus(of: path), found.kind == .regular
        else {
            return
        }
        _ = truncate(path, off_t(max(0, found.size - Self.spacePerStart)))
    }

    /// Waits at most two seconds until the daemon listens on its sockets, then fills the file. If it were filled
    /// earlier, it would take the space that the start needs. If it were filled later, other programs could take the
    /// space first.
    func fill(onceReady servers: ServerReadiness) async throws {
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await servers.wait() }
            tasks.addTask { try await Task.sleep(for: .seconds(2)) }
            _ = try await tasks.next()
            tasks.cancelAll()
        }
        fill()
    }

    /// Extends the file to 1 MiB (on a file system below 16 MiB, to one sixteenth of it), or as far as there is space.
    /// Called again and again, it reserves the first space that becomes free on a full disk for the next start.
    func fill() {
        // On a small file system the file must not take a large part of the space.
        let size = min(Self.fullSize, (space?.total ?? 0) / 16)
        let file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { return }
        defer { close(file) }
        guard let found = FileStatus(descriptor: file), found.size < size else { return }
        // Writes zeros instead of calling fallocate, because some file systems promise space that they do not have. A
        // short write is no error: the next call continues.
        let zeros = [UInt8](repeating: 0, count: size - found.size)
        _ = write(file, zeros, zeros.count)
    }
}
