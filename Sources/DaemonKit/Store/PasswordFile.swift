import Glibc
import MerchantCore
import Secrets

/// The file with the password of the PostgreSQL role. It is read for each new connection, so that a new password takes
/// effect without a restart.
struct PasswordFile: Sendable {
    /// In bytes, without the line end.
    static let longestPassword = 1024

    let path: String
    /// systemd's directory with the credentials of the daemon's unit; nil if there is none. A file in this directory
    /// may be readable for its group, because systemd grants access with an access control list.
    let credentialsDirectory: String?

    /// - Throws: `storeUnavailable` unless the file is a regular file that belongs to this user or root, that only its
    ///   owner can access (in ``credentialsDirectory``, its group may read it), and that contains one line.
    func read() throws(MerchantError) -> SecretBytes {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw failure("cannot be opened: \(PathAccess.lastErrorAndRemedy)") }
        defer { close(descriptor) }
        guard let status = FileStatus(descriptor: descriptor), status.kind == .regular else {
            throw failure("is not a regular file; name the file with the password")
        }
        guard status.uid == geteuid() || status.uid == 0 else {
            throw failure(
                "belongs to uid \(status.uid), expected uid \(geteuid()) or root; change its owner with 'chown'")
        }
        guard status.mode & forbiddenPermissions == 0 else {
            throw failure(
                "has mode 0\(String(status.mode, radix: 8)), so other users can access it; run 'chmod 0600' on the file"
            )
        }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.longestPassword + 3, alignment: 1)
        defer {
            if let start = buffer.baseAddress { explicit_bzero(start, buffer.count) }
            buffer.deallocate()
        }
        let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
        guard count >= 0 else { throw failure("cannot be read: \(String(cString: strerror(errno)))") }
        var line = UnsafeRawBufferPointer(rebasing: buffer[..<count])[...]
        if line.last == UInt8(ascii: "\n") { line = line.dropLast() }
        if line.last == UInt8(ascii: "\r") { line = line.dropLast() }
        guard (1...Self.longestPassword).contains(line.count), !line.contains(UInt8(ascii: "\n")), !line.contains(0)
        else {
            throw failure(
                "does not contain one line of 1 to \(Self.longestPassword) bytes; write only the password into it")
        }
        return SecretBytes(copying: line)
    }

    private var forbiddenPermissions: UInt32 {
        guard let credentialsDirectory, path.hasPrefix("\(credentialsDirectory)/") else { return 0o077 }
        return 0o037
    }

    private func failure(_ reason: String) -> MerchantError {
        MerchantError(.storeUnavailable, "the password file \(path) \(reason)")
    }
}
