import Glibc

/// The directory that holds database, lock and, for one user, the master key and the sockets.
enum StateDirectory {
    /// Makes the directory where it is missing (mode 0700), and refuses one that others can read or write.
    ///
    /// - Throws: ``SettingsError`` naming owner and mode found and expected.
    static func prepare(_ path: String) throws {
        try make(path)
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw SettingsError("the state directory \(path) is not a directory")
        }
        guard status.st_uid == geteuid() else {
            throw SettingsError(
                "the state directory \(path) belongs to uid \(status.st_uid), expected \(geteuid()), who runs the daemon"
            )
        }
        guard status.st_mode & 0o077 == 0 else {
            throw SettingsError(
                "the state directory \(path) has mode 0\(String(status.st_mode & 0o7777, radix: 8)), expected 0700: others must neither read nor write it"
            )
        }
    }

    private static func make(_ path: String) throws {
        guard access(path, F_OK) != 0 else { return }
        let parent = path.split(separator: "/", omittingEmptySubsequences: true).dropLast().joined(separator: "/")
        let parentPath = path.hasPrefix("/") ? "/\(parent)" : parent
        if !parent.isEmpty, access(parentPath, F_OK) != 0 { try make(parentPath) }
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
            throw SettingsError("the state directory \(path) cannot be made: \(String(cString: strerror(errno)))")
        }
    }
}

/// One daemon a directory: held for the life of the process, let go by the kernel however it ends.
struct InstanceLock: ~Copyable {
    private let descriptor: CInt
    /// Whether the last daemon here ended without closing its database: it was killed, or the machine stopped.
    let wasLeftOpen: Bool

    /// - Throws: ``SettingsError`` naming the process that holds the directory.
    init(path: String) throws {
        let file = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else {
            throw SettingsError("the lock file \(path) cannot be opened: \(String(cString: strerror(errno)))")
        }
        let isHeld = flock(file, LOCK_EX | LOCK_NB) != 0
        let lines = Self.lines(of: file)
        guard !isHeld else {
            close(file)
            throw SettingsError(
                "the state directory is in use by another merchantkeyd, process \(lines.first ?? "unknown") (lock \(path)), expected none"
            )
        }
        let wasLeftOpen = lines.dropFirst().first == Self.mark
        guard Self.write(isOpen: wasLeftOpen, to: file) else {
            let why = String(cString: strerror(errno))
            close(file)
            throw SettingsError("the lock file \(path) cannot be written: \(why)")
        }
        descriptor = file
        self.wasLeftOpen = wasLeftOpen
    }

    private static let mark: Substring = "open"

    /// Whether the last daemon here, or the one that runs, has its database open. For whoever only looks.
    static func isMarkedOpen(_ path: String) -> Bool {
        let file = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else { return false }
        defer { close(file) }
        return lines(of: file).dropFirst().first == mark
    }

    private static func lines(of file: CInt) -> [Substring] {
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = max(0, pread(file, &bytes, bytes.count, 0))
        return String(decoding: bytes[..<count], as: UTF8.self).split(separator: "\n")
    }

    /// From now on a write-ahead log belongs to the database.
    func markOpen() { _ = Self.write(isOpen: true, to: descriptor) }

    /// To be called before the database is closed: that takes its write-ahead log away.
    func markClosed() { _ = Self.write(isOpen: false, to: descriptor) }

    /// Over what is there, then cut: a full disk has room for a block that is there already.
    private static func write(isOpen: Bool, to file: CInt) -> Bool {
        let text = Array("\(getpid())\n\(isOpen ? "\(mark)\n" : "")".utf8)
        return pwrite(file, text, text.count, 0) == text.count && ftruncate(file, off_t(text.count)) == 0
            && fsync(file) == 0
    }

    deinit { close(descriptor) }
}
