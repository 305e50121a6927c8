import Glibc

/// Brings files to stable storage, so that they survive a power failure.
enum Durable {
    /// Syncs the content of a file, or the names in a directory.
    static func sync(_ path: String) throws {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("cannot open \(path)") }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure("cannot sync \(path)") }
    }

    /// - Parameter what: what failed; the system's reason is appended.
    static func failure(_ what: String) -> SettingsError {
        SettingsError("\(what): \(String(cString: strerror(errno)))")
    }
}
