import Glibc

/// Finds out which process has locked a database for writing, without taking a lock.
///
/// The offsets are those of SQLite's source: `os.h` for the database file, `wal.c` for the shared memory file.
enum DatabaseLock {
    /// The byte of the `-shm` file that is locked by the connection that writes to the write-ahead log.
    private static let writeLock: off_t = 120
    /// The bytes from PENDING_BYTE to the last of the SHARED bytes of the database file. A connection that needs
    /// exclusive access to the database, or writes without a write-ahead log, has a write lock there.
    private static let databaseLocks: (start: off_t, length: off_t) = (0x4000_0000, 512)

    /// - Returns: the identifier of the process; 0 if it runs in another namespace; nil if no other process has such a
    ///   lock, or if the files cannot be opened.
    static func holder(of path: String) -> pid_t? {
        holder(of: path + "-shm", from: writeLock, length: 1, conflictingWith: F_WRLCK)
            ?? holder(of: path, from: databaseLocks.start, length: databaseLocks.length, conflictingWith: F_RDLCK)
    }

    private static func holder(
        of file: String, from start: off_t, length: off_t, conflictingWith kind: CInt
    ) -> pid_t? {
        // Closing a descriptor releases the locks that this process holds on the file. The processes that call this,
        // such as `config check`, hold none.
        let descriptor = open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var lock = flock()
        (lock.l_type, lock.l_whence) = (Int16(kind), Int16(SEEK_SET))
        (lock.l_start, lock.l_len) = (start, length)
        guard fcntl(descriptor, F_GETLK, &lock) == 0, lock.l_type != Int16(F_UNLCK) else { return nil }
        return lock.l_pid
    }
}
