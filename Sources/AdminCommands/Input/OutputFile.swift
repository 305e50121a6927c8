package import FoundationEssentials
import Glibc

/// A file that a verb writes, whole or not at all; `-` is standard output.
package struct OutputFile: Sendable {
    package let path: String
    private let overwrites: Bool

    package init(_ path: String, overwrites: Bool) {
        self.path = path
        self.overwrites = overwrites
    }

    package var isStandardOutput: Bool { path == "-" }

    /// Tells before the work whether ``write(_:)`` will refuse.
    package func judge() throws(CommandFailure) {
        guard !isStandardOutput else { return }
        var found = stat()
        guard lstat(path, &found) == 0 else { return }
        // Replacing a device or a link would break what others made of it.
        guard found.st_mode & S_IFMT == S_IFREG else {
            throw CommandFailure(.refused, "\(path) is no regular file, expected one or none")
        }
        guard overwrites else {
            throw CommandFailure(.refused, "\(path) exists, expected a new name or --force")
        }
    }

    /// Mode 0644, on stable storage when this returns.
    package func write(_ bytes: Data) throws(CommandFailure) {
        guard !isStandardOutput else { return StandardStream.output.write(bytes) }
        try judge()
        let draft = "\(path).\(getpid()).new"
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw failure(errno) }
        defer { unlink(draft) }
        let writing = Self.fill(descriptor, bytes)
        close(descriptor)
        guard writing == 0 else { throw failure(writing) }
        // link refuses an existing name, so that a file made meanwhile is not lost.
        guard (overwrites ? rename(draft, path) : link(draft, path)) == 0 else { throw failure(errno) }
    }

    /// - Returns: 0, or why not all is on stable storage.
    private static func fill(_ descriptor: Int32, _ bytes: Data) -> Int32 {
        // Whatever the umask: a CSR or certificate is public.
        guard fchmod(descriptor, 0o644) == 0 else { return errno }
        let code = bytes.write(to: descriptor)
        guard code == 0 else { return code }
        return fsync(descriptor) == 0 ? 0 : errno
    }

    private func failure(_ code: Int32) -> CommandFailure {
        CommandFailure(.refused, "can't write \(path): \(String(cString: strerror(code)))")
    }
}
