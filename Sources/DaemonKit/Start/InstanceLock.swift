import Glibc
import MerchantCore
import Synchronization

/// Ensures that only one daemon uses a state directory. The kernel releases the lock when the process ends, even by a
/// kill.
///
/// The daemon locks both the lock file and the directory, so that a second daemon cannot start when the lock file was
/// moved away. The first line of the file is the process identifier of the daemon. The other lines are ``LockMarks``.
final class InstanceLock: Sendable {
    private struct State {
        var marks: LockMarks
        /// Whether the file differs from ``marks``, because the last write failed.
        var isBehind = false
    }

    private let path: String
    private let descriptor: CInt
    private let directory: CInt
    /// The marks that the last daemon in the directory wrote.
    let found: LockMarks
    private let state: Mutex<State>

    /// - Throws: ``SettingsError`` naming the process that uses the directory.
    init(path: String) throws {
        self.path = path
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else {
            throw SettingsError(
                "the lock file \(path) cannot be opened: \(String(cString: strerror(errno))); the daemon's user must be able to write to its directory"
            )
        }
        let isHeld = flock(file, LOCK_EX | LOCK_NB) != 0
        guard let (holder, found) = Self.read(file) else {
            defer { close(file) }
            throw SettingsError(
                "the lock file \(path) cannot be read: \(String(cString: strerror(errno))); check the disk")
        }
        guard !isHeld else {
            close(file)
            throw SettingsError(
                "the state directory is in use by another merchantkeyd, process \(holder ?? "unknown") (lock \(path)); stop that daemon first"
            )
        }
        do { directory = try Self.lockDirectory(of: path) } catch {
            close(file)
            throw error
        }
        descriptor = file
        self.found = found
        state = Mutex(State(marks: found))
        try set { _ in }
    }

    /// Whether a daemon has locked the directory. With it, ``Diagnosis`` detects a lock file that was moved away.
    static func isDirectoryHeld(_ path: String) -> Bool {
        let directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { return false }
        defer { close(directory) }
        return flock(directory, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
    }

    /// Reads the marks of the daemon that runs or ran last. Locks nothing. The marks are empty if the file cannot be
    /// read.
    static func marks(_ path: String) -> LockMarks {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else { return LockMarks() }
        defer { close(file) }
        return read(file)?.marks ?? LockMarks()
    }

    /// - Throws: ``SettingsError`` if another process has locked the directory, or it cannot be locked.
    private static func lockDirectory(of path: String) throws -> CInt {
        let name = path.split(separator: "/").dropLast().joined(separator: "/")
        let directory = path.hasPrefix("/") ? "/\(name)" : name.isEmpty ? "." : name
        let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0, flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let error = errno
            if descriptor >= 0 { close(descriptor) }
            throw SettingsError(
                error == EWOULDBLOCK
                    ? "the state directory \(directory) is in use by another merchantkeyd, whose lock file \(path) was moved away or removed; stop that daemon first ('lsof \(directory)' shows its process)"
                    : "the state directory \(directory) cannot be locked: \(String(cString: strerror(error))); put it on a local file system"
            )
        }
        return descriptor
    }

    /// Whether the path still names the file that this process has locked.
    var isInPlace: Bool {
        guard let locked = FileStatus(descriptor: descriptor), let named = FileStatus(of: path) else { return false }
        return locked.isSameFile(as: named)
    }

    /// Changes the marks, writes them to the file and syncs it.
    func set(_ change: (inout LockMarks) -> Void) throws {
        try state.withLock { state in
            change(&state.marks)
            state.isBehind = !(Self.write(state.marks, to: descriptor) && fsync(descriptor) == 0)
            guard !state.isBehind else {
                throw SettingsError(
                    "the lock file cannot be written: \(String(cString: strerror(errno))); make room on the disk")
            }
        }
    }

    var unrecordedLosses: [String] { state.withLock { $0.marks.unrecordedLosses } }
    var replacedInode: UInt64? { state.withLock { $0.marks.replacedInode } }
    /// Whether the last change of the marks could not be written.
    var isBehind: Bool { state.withLock { $0.isBehind } }

    deinit {
        close(descriptor)
        close(directory)
    }
}

// MARK: - Marks

extension InstanceLock {
    /// Stores losses that the operator accepted until ``StartRecord`` has recorded them in the audit. Removes the marks
    /// about the database, which describe it before the loss.
    func keep(_ losses: [String]) throws {
        let new = losses.filter { !unrecordedLosses.contains($0) }
        guard !new.isEmpty else { return }
        try set {
            $0.unrecordedLosses += new
            $0.forgetDatabase()
        }
    }

    /// Removes the marks about the former database, because they do not apply to the present one.
    func forgetDatabase() throws { try set { $0.forgetDatabase() } }

    /// Records that the database file was moved or replaced. The next start then does not apply the log to another
    /// file.
    ///
    /// A failure is ignored, because the store refuses all further changes.
    ///
    /// - Parameter inode: of the file that the daemon has open, to which the log belongs.
    func markReplaced(_ inode: UInt64) { try? set { $0.replacedInode = inode } }

    /// Call after the last change and before the database is closed. Closing may remove the write-ahead log.
    ///
    /// A failure is ignored. In the worst case, the next start refuses because the log is missing, although nothing was
    /// lost.
    func markClosing() { try? set { $0.head = $0.head?.asWrittenAtShutdown } }

    /// Call after the database was closed.
    ///
    /// - Parameter leavingLog: whether a log exists after the close. The next start then expects one.
    func markClosed(leavingLog: Bool) throws {
        try set {
            $0.isOpen = leavingLog
            $0.isClosed = !leavingLog
            $0.replacedInode = nil
        }
    }

    /// Call before the database is opened. From then on a log may exist, but until ``markOpen()`` a missing log is no
    /// error.
    func markOpening() throws { try set { $0.isClosed = false } }

    /// Call before the first change is acknowledged. From then on the log contains acknowledged changes, and a missing
    /// log is an error.
    func markOpen() throws {
        try set {
            $0.isOpen = true
            $0.replacedInode = nil
        }
    }
}

extension LockMarks {
    fileprivate mutating func forgetDatabase() {
        replacedInode = nil
        head = nil
        log = nil
    }
}

extension InstanceLock: AuditObserver {
    /// If the write fails, ``StoreRecovery`` repeats it until it succeeds. Otherwise the lock file would name an older
    /// record as the last.
    func auditGrew(to head: AuditHead, inLog generation: String) {
        state.withLock { state in
            state.marks.advance(to: head, inLog: generation)
            if !Self.write(state.marks, to: descriptor) { state.isBehind = true }
        }
    }
}

// MARK: - The file

extension InstanceLock {
    /// How many bytes of the file are read and written at most.
    private static let size = 4096

    private static func read(_ file: CInt) -> (holder: Substring?, marks: LockMarks)? {
        var bytes = [UInt8](repeating: 0, count: size)
        let count = pread(file, &bytes, bytes.count, 0)
        guard count >= 0 else { return nil }
        let lines = String(decoding: bytes[..<count], as: UTF8.self).split(separator: "\n")
        return (lines.first, LockMarks(lines.dropFirst()))
    }

    /// Overwrites the file before it truncates it. This works on a full disk, because the file keeps its block.
    private static func write(_ marks: LockMarks, to file: CInt) -> Bool {
        let text = Array((["\(getpid())"] + marks.lines).map { "\($0)\n" }.joined().utf8.prefix(size))
        return pwrite(file, text, text.count, 0) == text.count && ftruncate(file, off_t(text.count)) == 0
    }
}
