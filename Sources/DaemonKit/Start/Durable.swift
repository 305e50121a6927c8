import Glibc

/// What is to outlive a loss of power.
enum Durable {
    /// Brings a file's content, or a directory's names, to stable storage.
    static func sync(_ path: String) throws {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("cannot open \(path)") }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure("cannot make \(path) durable") }
    }

    static func failure(_ what: String) -> SettingsError {
        SettingsError("\(what): \(String(cString: strerror(errno)))")
    }
}
