import Glibc
import MerchantCore
import Synchronization

/// One daemon per state directory. The process holds the lock as long as it lives; the kernel releases it however it ends.
///
/// Both the lock file and the directory itself are locked: a lock file that was moved away admits no second daemon. The file's
/// first line is the holder's process, the others are ``LockMarks``.
final class InstanceLock: Sendable {
    private struct State {
        var marks: LockMarks
        /// Whether the file says less than that.
        var isBehind = false
    }

    private let path: String
    private let descriptor: CInt
    private let directory: CInt
    /// What the last daemon here left.
    let found: LockMarks
    private let state: Mutex<State>

    /// - Throws: ``SettingsError`` naming the process that holds the directory.
    init(path: String) throws {
        self.path = path
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else {
            throw SettingsError("the lock file \(path) cannot be opened: \(String(cString: strerror(errno)))")
        }
        let isHeld = flock(file, LOCK_EX | LOCK_NB) != 0
        guard let (holder, found) = Self.read(file) else {
            defer { close(file) }
            throw SettingsError("the lock file \(path) cannot be read: \(String(cString: strerror(errno)))")
        }
        guard !isHeld else {
            close(file)
            throw SettingsError(
                "the state directory is in use by another merchantkeyd, process \(holder ?? "unknown") (lock \(path)), expected none"
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

    /// Whether a daemon runs in the directory. For a diagnosis.
    static func isDirectoryHeld(_ path: String) -> Bool {
        let directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { return false }
        defer { close(directory) }
        return flock(directory, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
    }

    /// What the daemon that runs, or ran last, left. For whoever only looks.
    static func marks(_ path: String) -> LockMarks {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else { return LockMarks() }
        defer { close(file) }
        return read(file)?.marks ?? LockMarks()
    }

    /// - Throws: ``SettingsError`` where another process holds the directory, whatever became of its lock file.
    private static func lockDirectory(of path: String) throws -> CInt {
        let name = path.split(separator: "/").dropLast().joined(separator: "/")
        let directory = path.hasPrefix("/") ? "/\(name)" : name.isEmpty ? "." : name
        let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0, flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let error = errno
            if descriptor >= 0 { close(descriptor) }
            throw SettingsError(
                error == EWOULDBLOCK
                    ? "the state directory \(directory) is in use by another merchantkeyd, whose lock file \(path) was moved away or removed: stop that daemon first ('lsof \(directory)' shows its process)"
                    : "the state directory \(directory) cannot be locked: \(String(cString: strerror(error))); put it on a local file system"
            )
        }
        return descriptor
    }

    /// Whether the file that is locked is still the one that its name leads to.
    var isInPlace: Bool {
        var (locked, named) = (stat(), stat())
        return fstat(descriptor, &locked) == 0 && lstat(path, &named) == 0
            && (locked.st_dev, locked.st_ino) == (named.st_dev, named.st_ino)
    }

    /// Changes the marks, durably.
    func set(_ change: (inout LockMarks) -> Void) throws {
        try state.withLock { state in
            change(&state.marks)
            state.isBehind = !(Self.write(state.marks, to: descriptor) && fsync(descriptor) == 0)
            guard !state.isBehind else {
                throw SettingsError("the lock file cannot be written: \(String(cString: strerror(errno)))")
            }
        }
    }

    var unrecordedLosses: [String] { state.withLock { $0.marks.unrecordedLosses } }
    var replaced: UInt64? { state.withLock { $0.marks.replaced } }
    /// Whether a mark could not be written.
    var isBehind: Bool { state.withLock { $0.isBehind } }

    deinit {
        close(descriptor)
        close(directory)
    }
}

// MARK: - What happens to the database

extension InstanceLock {
    /// Keeps losses until they are on record.
    func keep(_ losses: [String]) throws {
        let new = losses.filter { !unrecordedLosses.contains($0) }
        guard !new.isEmpty else { return }
        try set {
            $0.unrecordedLosses += new
            $0.forget()
        }
    }

    /// What was said of a database that is not this one, or not this one any more, is not to be said of this one.
    func forgetDatabase() throws { try set { $0.forget() } }

    /// The database's file is no longer in its place; what is in the log must meet no other.
    ///
    /// Where it cannot be kept, nothing else is to be done about it: the store takes no more changes.
    func markReplaced(_ inode: UInt64) { try? set { $0.replaced = inode } }

    /// To be called when the last change was made, before the database is closed: that may take its write-ahead log away.
    ///
    /// Where it fails, the next start may be refused for a log that is missing: better than one that passes.
    func markClosing() { try? set { $0.head = $0.head?.asLast } }

    /// To be called after the database was closed. A log that is still there holds what the next start must not miss.
    func markClosed(leavingLog: Bool) throws {
        try set {
            $0.isOpen = leavingLog
            $0.isClosed = !leavingLog
            $0.replaced = nil
        }
    }

    /// To be called before the database is opened: from now on there may be a log, and one that is missing is not missed yet.
    func markOpening() throws { try set { $0.isClosed = false } }

    /// To be called before anything is acknowledged: from now on the log belongs to the database.
    func markOpen() throws {
        try set {
            $0.isOpen = true
            $0.replaced = nil
        }
    }
}

extension LockMarks {
    fileprivate mutating func forget() {
        replaced = nil
        head = nil
        log = nil
    }
}

extension InstanceLock: AuditObserver {
    /// An older end would pass for the last one: where it cannot be written, it is tried again until it is, and that is told.
    func auditGrew(to head: AuditHead, inLog generation: String) {
        state.withLock { state in
            state.marks.grow(to: head, inLog: generation)
            if !Self.write(state.marks, to: descriptor) { state.isBehind = true }
        }
    }
}

// MARK: - The file

extension InstanceLock {
    /// The most that is read and written, in bytes.
    private static let size = 4096

    private static func read(_ file: CInt) -> (holder: Substring?, marks: LockMarks)? {
        var bytes = [UInt8](repeating: 0, count: size)
        let count = pread(file, &bytes, bytes.count, 0)
        guard count >= 0 else { return nil }
        let lines = String(decoding: bytes[..<count], as: UTF8.self).split(separator: "\n")
        return (lines.first, LockMarks(lines.dropFirst()))
    }

    /// Over what is there, then cut: a full disk has room for a block that is there already.
    private static func write(_ marks: LockMarks, to file: CInt) -> Bool {
        let text = Array((["\(getpid())"] + marks.lines).map { "\($0)\n" }.joined().utf8.prefix(size))
        return pwrite(file, text, text.count, 0) == text.count && ftruncate(file, off_t(text.count)) == 0
    }
}
