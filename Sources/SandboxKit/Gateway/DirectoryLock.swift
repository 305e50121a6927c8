import Glibc

/// A lock on a directory, so that only one process writes the files in it. The lock is released with this object or
/// when the process exits, and leaves no file.
final class DirectoryLock: Sendable {
    private let descriptor: CInt

    /// - Throws: ``SandboxError`` if another process has the lock, or if the directory cannot be opened.
    init(_ path: String) throws(SandboxError) {
        descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw SandboxError("cannot open the directory '\(path)': \(String(cString: strerror(errno)))")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw SandboxError(
                "another 'applepay-sandbox serve' uses the directory '\(path)': stop it, or choose another directory")
        }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }
}
