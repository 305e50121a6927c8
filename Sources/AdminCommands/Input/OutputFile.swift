package import FoundationEssentials
import Glibc

/// A file that a subcommand writes completely or not at all; `-` is standard output.
package struct OutputFile: Sendable {
    package let path: String
    private let overwrites: Bool

    package init(_ path: String, overwrites: Bool) {
        self.path = path
        self.overwrites = overwrites
    }

    package var isStandardOutput: Bool { path == "-" }

    /// Finds out before the work whether ``write(_:)`` will refuse.
    package func checkWritable() throws(CommandFailure) {
        guard !isStandardOutput else { return }
        var found = stat()
        guard lstat(path, &found) == 0 else { return }
        // Replacing a device or a link would break it for other programs.
        guard found.st_mode & S_IFMT == S_IFREG else {
            throw CommandFailure(.refused, "\(path) is not a regular file; name another file")
        }
        guard overwrites else {
            throw CommandFailure(.refused, "\(path) exists; name another file or use --force")
        }
    }

    /// Mode 0644, on stable storage when this returns.
    package func write(_ bytes: Data) throws(CommandFailure) {
        guard !isStandardOutput else { return StandardStream.output.write(bytes) }
        try checkWritable()
        let draft = "\(path).\(getpid()).new"
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw failure(errno) }
        defer { unlink(draft) }
        let writing = Self.fill(descriptor, bytes)
        close(descriptor)
        guard writing == 0 else { throw failure(writing) }
        // link(2) refuses an existing name, so that a file created in the meantime is not lost.
        guard (overwrites ? rename(draft, path) : link(draft, path)) == 0 else { throw failure(errno) }
    }

    /// - Returns: 0 when all of it is on stable storage, otherwise errno.
    private static func fill(_ descriptor: Int32, _ bytes: Data) -> Int32 {
        // Independent of the umask, because a CSR or certificate is public.
        guard fchmod(descriptor, 0o644) == 0 else { return errno }
        let code = bytes.write(to: descriptor)
        guard code == 0 else { return code }
        return fsync(descriptor) == 0 ? 0 : errno
    }

    private func failure(_ code: Int32) -> CommandFailure {
        CommandFailure(.refused, "can't write \(path): \(String(cString: strerror(code)))")
    }
}
