import FoundationEssentials
import Glibc
import Vocabulary

/// Reads whole files up to a size limit, and writes regular files atomically.
enum Files {
    /// The size limit in bytes for files that are read, which is much larger than any CSR, certificate or key.
    private static let maximumInputSize = 65_536

    /// Returns the content of a file.
    ///
    /// - Parameters:
    ///   - path: the path of the file, or `-` for the standard input.
    ///   - limit: the largest permitted size in bytes.
    static func read(_ path: String, limit: Int = maximumInputSize) throws(SandboxError) -> [UInt8] {
        let descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw systemError("read", path) }
        defer { if descriptor != STDIN_FILENO { close(descriptor) } }
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 64 * 1024)
        while bytes.count <= limit {
            let count = part.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw systemError("read", path) }
            if count == 0 { return bytes }
            bytes += part[..<count]
        }
        throw SandboxError("'\(path)' is too large, expected at most \(limit) bytes")
    }

    /// Whether there is a file, directory or symbolic link at this path. Symbolic links are not followed.
    static func exists(_ path: String) -> Bool {
        faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0
    }

    /// Whether this is a directory. Symbolic links are followed.
    static func isDirectory(_ path: String) -> Bool {
        access("\(path)/.", F_OK) == 0
    }

    /// The names of the files and directories in a directory, sorted.
    static func names(in directory: String) throws(SandboxError) -> [String] {
        do {
            return try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
        } catch {
            throw SandboxError("cannot read the directory '\(directory)': check the path and its permissions")
        }
    }

    /// Whether this is a regular file. Symbolic links are not followed.
    private static func isRegular(_ path: String) -> Bool {
        (try? FileManager.default.attributesOfItem(atPath: path))?[.type] as? FileAttributeType == .typeRegular
    }

    /// Writes a file. A regular file is replaced atomically. If the path names a pipe, a device or a symbolic link, the
    /// bytes are written into the existing file, because such a file must not be replaced.
    ///
    /// - Parameter path: the path of the file, or `-` for the standard output.
    static func write(_ bytes: [UInt8], to path: String) throws(SandboxError) {
        if path == "-" {
            try write(bytes, into: STDOUT_FILENO, named: "the standard output")
        } else if exists(path), !isRegular(path) {
            let descriptor = open(path, O_WRONLY | O_CLOEXEC | O_TRUNC)
            guard descriptor >= 0 else { throw systemError("write", path) }
            defer { close(descriptor) }
            try write(bytes, into: descriptor, named: path)
        } else {
            try writeTemporary(bytes, for: path, mode: 0o644) { rename($0, $1) }
        }
    }

    /// Creates a file that must not exist yet. After a crash the file is either complete and on stable storage, or
    /// absent.
    static func create(_ bytes: [UInt8], at path: String, mode: mode_t) throws(SandboxError) {
        try writeTemporary(bytes, for: path, mode: mode) { temporary, path in
            // Unlike rename(2), link(2) fails if the file exists.
            let result = link(temporary, path)
            // unlink(2) may change the `errno` that link(2) set.
            let linkError = errno
            if result == 0 { unlink(temporary) }
            errno = linkError
            return result
        }
    }

    /// The path of the directory that contains a file.
    static func directory(of path: String) -> String {
        path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    }

    static func createDirectory(_ path: String) throws(SandboxError) {
        guard mkdir(path, 0o755) == 0 || errno == EEXIST else { throw systemError("create", path) }
    }

    /// Writes a temporary file, syncs it, and moves it to its final path.
    ///
    /// - Parameter move: moves the file at the first path to the second path; returns 0, or -1 and sets `errno`.
    private static func writeTemporary(
        _ bytes: [UInt8], for path: String, mode: mode_t, move: (String, String) -> CInt
    ) throws(SandboxError) {
        let temporary = "\(path).\(Hex.encode(randomBytes(8)))"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode)
        guard descriptor >= 0 else { throw systemError("write", path) }
        do throws(SandboxError) {
            defer { close(descriptor) }
            try write(bytes, into: descriptor, named: path)
            guard fsync(descriptor) == 0, move(temporary, path) == 0 else { throw systemError("write", path) }
        } catch {
            unlink(temporary)
            throw error
        }
        try syncDirectory(of: path)
    }

    /// Writes all bytes. Continues after partial writes, and repeats a write that a signal interrupted.
    ///
    /// - Parameter path: the name of the file for error messages.
    static func write(_ bytes: [UInt8], into descriptor: CInt, named path: String) throws(SandboxError) {
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress?.advanced(by: written), $0.count - written)
            }
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw systemError("write", path) }
            written += count
        }
    }

    /// Syncs the directory that contains a file, so that the file's name is on stable storage.
    private static func syncDirectory(of path: String) throws(SandboxError) {
        let parent = directory(of: path)
        let descriptor = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw systemError("open", parent) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw systemError("sync", parent) }
    }

    private static func systemError(_ action: String, _ path: String) -> SandboxError {
        SandboxError("cannot \(action) '\(path)': \(String(cString: strerror(errno)))")
    }
}
