import FoundationEssentials
import Glibc
import Vocabulary

/// Reads and writes whole files: bounded, and never half of one.
enum Files {
    /// Far more than any CSR, certificate or key.
    private static let longestInput = 65_536

    /// - Parameter path: `-` is standard input.
    static func read(_ path: String) throws(SandboxFault) -> [UInt8] {
        let descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw fault("read", path) }
        defer { if descriptor != STDIN_FILENO { close(descriptor) } }
        var bytes = [UInt8](repeating: 0, count: longestInput + 1)
        var filled = 0
        while filled < bytes.count {
            let count = bytes.withUnsafeMutableBytes {
                Glibc.read(descriptor, $0.baseAddress?.advanced(by: filled), $0.count - filled)
            }
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw fault("read", path) }
            if count == 0 { return Array(bytes.prefix(filled)) }
            filled += count
        }
        throw SandboxFault("found more than \(longestInput) bytes in '\(path)', expected at most so many")
    }

    static func exists(_ path: String) -> Bool {
        faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0
    }

    /// Links are not followed.
    private static func isRegular(_ path: String) -> Bool {
        (try? FileManager.default.attributesOfItem(atPath: path))?[.type] as? FileAttributeType == .typeRegular
    }

    /// Writes what a caller asked for, in place of what stood there; straight into anything that is no regular file.
    ///
    /// - Parameter path: `-` is standard output.
    static func write(_ bytes: [UInt8], to path: String) throws(SandboxFault) {
        if path == "-" {
            try write(bytes, into: STDOUT_FILENO, named: "standard output")
        } else if exists(path), !isRegular(path) {
            let descriptor = open(path, O_WRONLY | O_CLOEXEC | O_TRUNC)
            guard descriptor >= 0 else { throw fault("write", path) }
            defer { close(descriptor) }
            try write(bytes, into: descriptor, named: path)
        } else {
            try place(bytes, at: path, mode: 0o644) { rename($0, $1) }
        }
    }

    /// Writes a file that must not exist yet; it is complete and durable, or not there.
    static func create(_ bytes: [UInt8], at path: String, mode: mode_t) throws(SandboxFault) {
        try place(bytes, at: path, mode: mode) { temporary, path in
            // A link, unlike a rename, never replaces what is there.
            let result = link(temporary, path)
            let reason = errno
            if result == 0 { unlink(temporary) }
            errno = reason
            return result
        }
    }

    static func makeDirectory(_ path: String) throws(SandboxFault) {
        guard mkdir(path, 0o755) == 0 || errno == EEXIST else { throw fault("make", path) }
    }

    private static func place(
        _ bytes: [UInt8], at path: String, mode: mode_t, move: (String, String) -> CInt
    ) throws(SandboxFault) {
        let temporary = "\(path).\(Hex.encode(randomBytes(8)))"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode)
        guard descriptor >= 0 else { throw fault("write", path) }
        do throws(SandboxFault) {
            defer { close(descriptor) }
            try write(bytes, into: descriptor, named: path)
            guard fsync(descriptor) == 0, move(temporary, path) == 0 else { throw fault("write", path) }
        } catch {
            unlink(temporary)
            throw error
        }
        try makeDurable(directoryOf: path)
    }

    /// Writes all of it, through whatever interrupts.
    static func write(_ bytes: [UInt8], into descriptor: CInt, named path: String) throws(SandboxFault) {
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress?.advanced(by: written), $0.count - written)
            }
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw fault("write", path) }
            written += count
        }
    }

    private static func makeDurable(directoryOf path: String) throws(SandboxFault) {
        let parent = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let descriptor = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw fault("open", parent) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw fault("sync", parent) }
    }

    private static func fault(_ action: String, _ path: String) -> SandboxFault {
        SandboxFault("can't \(action) '\(path)': \(String(cString: strerror(errno)))")
    }
}
