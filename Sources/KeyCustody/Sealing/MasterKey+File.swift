import Glibc
package import MerchantCore
import Secrets
import Vocabulary

/// Reads and writes the master key's file: 32 raw bytes that only its owner can read.
extension MasterKey {
    /// Reads the master key from a file.
    ///
    /// - Parameter isCredential: whether systemd created the file as a credential. Such a file may have an access
    ///   control list, which the mode shows as permissions of the group. So the group may then have read permission.
    /// - Throws: `storeUnavailable`, unless the file is a regular file that belongs to this user or root, has no
    ///   permissions for group and others, and has exactly 32 bytes.
    package static func load(from path: String, isCredential: Bool = false) throws(MerchantError) -> MasterKey {
        // With O_NONBLOCK, opening a FIFO does not wait for a writer; the check below then refuses the FIFO.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            guard errno == EACCES else { throw failure("cannot be opened", path) }
            throw MerchantError(
                .storeUnavailable,
                "the daemon may not read the master key file \(path): the daemon's user must own the file, and be able to enter its directories"
            )
        }
        defer { close(descriptor) }
        try check(descriptor, path, withoutPermissions: isCredential ? 0o037 : 0o077)

        var isRead = false
        let contents = SecretBytes(count: length) { memory in isRead = fill(memory, from: descriptor) }
        guard isRead, let key = MasterKey(contents) else { throw failure("cannot be read", path) }
        return key
    }

    /// Generates a master key and writes it to a new file. The file is on stable storage on return.
    ///
    /// - Throws: `storeUnavailable`, for example if the file exists. An existing file is never overwritten.
    package static func create(at path: String) throws(MerchantError) -> MasterKey {
        let key = random()
        let directory = Self.directory(of: path)
        // If an earlier process was killed, the temporary file may still exist as a second name of the key in use. So
        // the temporary file is removed and not overwritten.
        let temporary = "\(directory)/.\(path.split(separator: "/").last ?? "master.key").new"
        unlink(temporary)
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw failure("cannot be created", path) }
        defer {
            unlink(temporary)
            close(descriptor)
        }
        // The process's umask may have removed permissions of the new file, even for the owner.
        guard fchmod(descriptor, 0o600) == 0, write(key, to: descriptor), fsync(descriptor) == 0 else {
            throw failure("cannot be written", path)
        }
        // link(2) fails if the name exists. rename(2) would replace a file that may be the only key to a database.
        guard link(temporary, path) == 0 else { throw failure("cannot be created", path) }
        unlink(temporary)
        try sync(directory: directory, path)
        return key
    }

    private static func fill(_ memory: UnsafeMutableRawBufferPointer, from descriptor: Int32) -> Bool {
        var rest = memory[...]
        while !rest.isEmpty {
            let count = read(descriptor, UnsafeMutableRawBufferPointer(rebasing: rest).baseAddress, rest.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    private static func write(_ key: borrowing MasterKey, to descriptor: Int32) -> Bool {
        key.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let written = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if written < 0, errno == EINTR { continue }
                guard written > 0 else { return false }
                rest = rest.dropFirst(written)
            }
            return true
        }
    }

    /// Flushes a directory, so that a new or renamed file in it survives a power failure.
    ///
    /// - Parameter path: the path of the file, for the error.
    static func sync(directory: String, _ path: String) throws(MerchantError) {
        let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("cannot be flushed to stable storage", path) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure("cannot be flushed to stable storage", path) }
    }

    /// Checks the type, owner, permissions and size of the open file. Uses the descriptor, because the path may refer
    /// to another file by now.
    private static func check(_ descriptor: Int32, _ path: String, withoutPermissions forbidden: mode_t)
        throws(MerchantError)
    {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure("cannot be checked", path) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw MerchantError(
                .storeUnavailable, "the master key \(path) is not a regular file, expected a file with 32 bytes")
        }
        guard status.st_uid == geteuid() || status.st_uid == 0 else {
            throw MerchantError(
                .storeUnavailable,
                "the master key file \(path) belongs to uid \(status.st_uid), expected \(geteuid()) (the user of this process) or 0 (root): run the command as the owner of the file, or change the owner with 'chown'"
            )
        }
        let mode = status.st_mode & 0o7777
        guard mode & forbidden == 0 else {
            throw MerchantError(
                .storeUnavailable,
                "the master key file \(path) has mode \(octal(mode)), so other users can access it: run chmod 0600 \(path)"
            )
        }
        guard status.st_size == length else {
            throw MerchantError(
                .storeUnavailable,
                "the master key file \(path) holds \(status.st_size.counted("byte")), expected exactly \(length) raw bytes"
            )
        }
    }

    private static func octal(_ mode: mode_t) -> String {
        let digits = String(mode, radix: 8)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }

    static func directory(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// The error for a failed system call, with the system's error message.
    static func failure(_ predicate: String, _ path: String) -> MerchantError {
        MerchantError(
            .storeUnavailable, "the master key file \(path) \(predicate): \(String(cString: strerror(errno)))")
    }
}
