import CLinux
import Glibc
import Vocabulary

/// Reads the small files that the settings of the portal name.
enum PortalFile {
    /// The maximum size of a file, in bytes.
    private static let longestFile = 256 * 1024

    /// - Parameters:
    ///   - setting: the name of the setting, for errors.
    ///   - forbidden: the permissions that the file must not have.
    static func read(
        _ path: String, setting: String, withoutPermissions forbidden: UInt32 = 0
    ) throws(PortalTLSError) -> [UInt8] {
        // O_NONBLOCK: opening a FIFO would otherwise block until another process opens it for writing.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw PortalTLSError(
                "'\(setting)': the file \(path) cannot be read: \(String(cString: strerror(errno))); check the path and the file's permissions"
            )
        }
        defer { close(descriptor) }
        var status = clinux_file()
        guard clinux_fstat(descriptor, &status) == 0, status.mode & S_IFMT == S_IFREG else {
            throw PortalTLSError("'\(setting)': \(path) is not a regular file; check the path")
        }
        guard status.mode & forbidden == 0 else {
            throw PortalTLSError(
                "'\(setting)': \(path) has mode 0\(String(status.mode & 0o7777, radix: 8)), so other users can access the private key; run chmod 0600 \(path)"
            )
        }
        let size = Int(status.size)
        guard (1...longestFile).contains(size) else {
            throw PortalTLSError(
                "'\(setting)': \(path) has \(size.counted("byte")), expected a PEM file with 1 to \(longestFile) bytes")
        }
        guard let bytes = contents(descriptor, count: size) else {
            throw PortalTLSError("'\(setting)': \(path) changed while it was read; try again")
        }
        return bytes
    }

    /// - Returns: nil if the file does not have `count` bytes any more, or cannot be read.
    private static func contents(_ descriptor: CInt, count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let result = bytes.withUnsafeMutableBytes { memory in
                Glibc.read(descriptor, memory.baseAddress?.advanced(by: filled), count - filled)
            }
            if result < 0, errno == EINTR { continue }
            guard result > 0 else { return nil }
            filled += result
        }
        return bytes
    }
}

/// The attributes of a file. At least one of them changes when the file is written, replaced, or gets another owner or
/// mode.
struct PortalFileStamp: Hashable, Sendable {
    private let device: UInt64
    private let inode: UInt64
    private let size: Int64
    private let modified: Int64
    private let changed: Int64

    /// - Returns: nil if there is no file at the path, or if its attributes cannot be read.
    init?(_ path: String) {
        var status = clinux_file()
        guard clinux_stat(path, &status) == 0 else { return nil }
        (device, inode, size) = (status.device, status.inode, status.size)
        (modified, changed) = (status.modified_ns, status.changed_ns)
    }
}
