import Glibc

/// Writes files to stable storage, so that they survive a power failure.
enum StableStorage {
    /// Syncs the content of a file, or the names in a directory.
    static func sync(_ path: String) throws {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw systemError("cannot open \(path)") }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw systemError("cannot sync \(path)") }
    }

    /// - Parameter what: what failed. The text of `errno` follows it in the message.
    static func systemError(_ what: String) -> SettingsError {
        SettingsError("\(what): \(String(cString: strerror(errno)))")
    }
}
