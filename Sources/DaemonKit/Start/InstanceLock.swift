import Glibc
import MerchantCore
import SQLiteStore
import Synchronization

/// Ensures that only one daemon uses a state directory, and stores in the lock file what the next start must know. The
/// kernel releases the lock when the process exits, even if it is killed.
///
/// The daemon locks both the lock file and the directory, so that a second daemon cannot start when the lock file was
/// moved away. The first line of the file is the process identifier of the daemon. The other lines are the
/// ``LockFileContent``. A command that must not run beside a daemon, such as `backup restore`, takes the same lock.
final class InstanceLock: Sendable {
    private struct State {
        private(set) var content: LockFileContent
        /// The encoded lines before and after those of the newest claim; nil if they changed since the last write.
        var otherLines: (before: [UInt8], after: [UInt8])?
        /// Whether the file may differ from ``content``, because the last write or sync failed.
        var isFileOutdated = false
        /// The length of the file in bytes after the last write; `Int.max` if unknown.
        var length = Int.max

        init(content: LockFileContent) { self.content = content }

        mutating func change(_ change: (inout LockFileContent) -> Void) {
            change(&content)
            otherLines = nil
        }

        mutating func advance(to claim: ClaimMark, inLog generation: String) {
            content.advance(to: claim, inLog: generation)
        }
    }

    private let path: String
    private let descriptor: CInt
    private let directoryDescriptor: CInt
    /// What the last daemon in the directory wrote.
    let previousContent: LockFileContent
    private let state: Mutex<State>

    /// - Parameter listeners: the sockets and TCP addresses on which this process will listen.
    /// - Throws: ``SettingsError`` if another process uses the directory, with the identifier of that process if it is
    ///   known; also if the lock file cannot be opened, read or written, or if the directory cannot be locked.
    init(path: String, listeningOn listeners: [String] = []) throws {
        self.path = path
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else {
            throw SettingsError(
                "the lock file \(path) cannot be opened: \(String(cString: strerror(errno))); the daemon's user must be able to write to the file and its directory"
            )
        }
        let isLockedByOther = flock(file, LOCK_EX | LOCK_NB) != 0
        guard let (holder, content) = Self.read(file) else {
            defer { close(file) }
            throw SettingsError(
                "the lock file \(path) cannot be read: \(String(cString: strerror(errno))); check the disk")
        }
        guard !isLockedByOther else {
            close(file)
            throw SettingsError(Self.inUse(by: holder, path))
        }
        do { directoryDescriptor = try Self.lockDirectory(of: path) } catch {
            close(file)
            throw error
        }
        descriptor = file
        previousContent = content
        state = Mutex(State(content: content))
        // Also writes the identifier of this process into the first line.
        try update {
            $0.masterKeySource = nil
            $0.listeners = listeners
        }
    }

    /// Whether a daemon, or a command that runs without a daemon, has locked the directory. True even if its lock file
    /// was moved away.
    static func isDirectoryLocked(_ path: String) -> Bool {
        let directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { return false }
        defer { close(directory) }
        return flock(directory, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
    }

    /// Checks the lock without taking it or creating a file, so that a start can report the other daemon before it
    /// reports the ports and sockets that the other daemon uses.
    ///
    /// - Throws: ``SettingsError`` if another process has locked the state directory.
    static func requireFree(directory: String) throws {
        guard isDirectoryLocked(directory) else { return }
        let path = Self.path(inDirectory: directory)
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        defer { if file >= 0 { close(file) } }
        guard file >= 0, flock(file, LOCK_SH | LOCK_NB) != 0 else {
            throw SettingsError(inUseWithoutLockFile(directory, path))
        }
        throw SettingsError(inUse(by: read(file)?.holder, path))
    }

    /// Checks whether ``init(path:listeningOn:)`` could open the file.
    ///
    /// - Returns: why it could not; nil if it could, or if there is no file.
    static func problem(ofFile path: String) -> String? {
        guard let found = FileStatus(of: path) else { return nil }
        guard found.kind == .regular, PathAccess.allows(R_OK | W_OK, path) else {
            return
                "the lock file \(path) cannot be opened: \(found.kind == .regular ? PathAccess.lastError : "it is not a regular file"); the daemon's user must be able to write to the file and its directory"
        }
        return nil
    }

    private static func inUse(by holder: Substring?, _ path: String) -> String {
        "the state directory is in use by another merchantkeyd, process \(holder ?? "unknown") (lock \(path)); stop that daemon first"
    }

    private static func inUseWithoutLockFile(_ directory: String, _ path: String) -> String {
        "the state directory \(directory) is in use by another merchantkeyd, whose lock file \(path) was moved away or removed; stop that daemon first ('lsof \(directory)' shows its process)"
    }

    static func path(inDirectory path: String) -> String { "\(path)/merchantkeyd.lock" }

    /// The process identifier of the daemon that uses a state directory; nil if no daemon uses the directory, or if the
    /// daemon's lock file was moved away or cannot be read.
    static func holder(ofDirectory path: String) -> pid_t? {
        let file = open(Self.path(inDirectory: path), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else { return nil }
        defer { close(file) }
        guard isDirectoryLocked(path), let holder = read(file)?.holder else { return nil }
        return pid_t(holder)
    }

    /// The sockets and TCP addresses on which the daemon that uses a state directory listens. Empty if no daemon uses
    /// the directory; nil if the daemon's lock file was moved away or cannot be read.
    static func listeners(inDirectory path: String) -> [String]? {
        guard isDirectoryLocked(path) else { return [] }
        let file = open(Self.path(inDirectory: path), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else { return nil }
        defer { close(file) }
        // If this process gets the lock, the file is not the one that the daemon has locked.
        guard flock(file, LOCK_SH | LOCK_NB) != 0 else { return nil }
        return read(file)?.content.listeners
    }

    /// The source that the setting `master-key` of the running daemon names, in the form of
    /// ``MasterKeySource/description``. Nil if no daemon uses the directory, if the daemon has not opened the database
    /// yet, or if its lock file cannot be read.
    static func masterKeySource(inDirectory path: String) -> String? {
        guard isDirectoryLocked(path) else { return nil }
        return content(ofFile: Self.path(inDirectory: path)).masterKeySource
    }

    /// Reads the file of the daemon that runs or ran last, without locking it.
    ///
    /// - Returns: a content without entries if the file cannot be read.
    static func content(ofFile path: String) -> LockFileContent {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else { return LockFileContent() }
        defer { close(file) }
        return read(file)?.content ?? LockFileContent()
    }

    /// - Throws: ``SettingsError`` if another process has locked the directory, or if the directory cannot be locked.
    private static func lockDirectory(of path: String) throws -> CInt {
        let name = path.split(separator: "/").dropLast().joined(separator: "/")
        let directory = path.hasPrefix("/") ? "/\(name)" : name.isEmpty ? "." : name
        let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0, flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let error = errno
            if descriptor >= 0 { close(descriptor) }
            throw SettingsError(
                error == EWOULDBLOCK
                    ? inUseWithoutLockFile(directory, path)
                    : "the state directory \(directory) cannot be locked: \(String(cString: strerror(error))); put the directory on a local file system"
            )
        }
        return descriptor
    }

    /// Whether the path of the lock file still names the file that this process has locked.
    var isLockFileInPlace: Bool {
        guard let locked = FileStatus(descriptor: descriptor), let named = FileStatus(of: path) else { return false }
        return locked.isSameFile(as: named)
    }

    /// Changes the content in memory, writes it to the file and syncs the file.
    ///
    /// - Throws: ``SettingsError`` if the file cannot be written. The content in memory is changed nevertheless.
    func update(_ change: (inout LockFileContent) -> Void) throws {
        try state.withLock { state in
            state.change(change)
            state.isFileOutdated = !(write(&state) && fsync(descriptor) == 0)
            guard !state.isFileOutdated else {
                throw SettingsError(
                    "the lock file \(path) cannot be written: \(String(cString: strerror(errno))); free space on the disk"
                )
            }
        }
    }

    var lossesNotInAudit: [String] { state.withLock { $0.content.lossesNotInAudit } }
    var inodeIfReplaced: UInt64? { state.withLock { $0.content.inodeIfReplaced } }
    /// Whether the last change could not be written to the file or synced.
    var isFileOutdated: Bool { state.withLock { $0.isFileOutdated } }

    deinit {
        close(descriptor)
        close(directoryDescriptor)
    }
}

// MARK: - Changes of the content

extension InstanceLock {
    /// Stores descriptions of losses that the operator accepted, until ``StartRecord`` has recorded them in the audit.
    /// If one of them is new, also removes the lines `replaced`, `head` and `log`, which describe the database before
    /// the loss.
    func storeAcceptedLosses(_ losses: [String]) throws {
        let new = losses.filter { !lossesNotInAudit.contains($0) }
        guard !new.isEmpty else { return }
        try update {
            $0.lossesNotInAudit += new
            $0.clearDatabaseEntries()
        }
    }

    /// Removes the lines `replaced`, `head` and `log`, because they do not apply to the present database.
    func clearDatabaseEntries() throws { try update { $0.clearDatabaseEntries() } }

    /// Records that the database file was moved or replaced. The next start then does not apply the write-ahead log to
    /// another file.
    ///
    /// A failure is ignored: ``StoreRecovery`` repeats the write while the daemon runs, and the store refuses all
    /// further changes.
    ///
    /// - Parameter inode: the inode of the file that the daemon has open. The log belongs to that file.
    func markDatabaseReplaced(_ inode: UInt64) { try? update { $0.inodeIfReplaced = inode } }

    /// Records that no change follows the head in the lock file. Call after the last change and before the database is
    /// closed, because closing may remove the write-ahead log.
    ///
    /// A failure is ignored. In the worst case the next start is refused because the log is missing, although nothing
    /// was lost.
    func markClosing() { try? update { $0.head = $0.head?.asWrittenAtShutdown } }

    /// Call after the database was closed.
    ///
    /// - Parameter leavingLog: whether a log exists after the close. The next start then expects one.
    func markClosed(leavingLog: Bool) throws {
        try update {
            $0.expectsLog = leavingLog
            $0.wasClosedWithoutLog = !leavingLog
            $0.inodeIfReplaced = nil
        }
    }

    /// Call before the database is opened, because opening it creates a log. Until ``markOpen(masterKeyFrom:claims:)``
    /// is called, the next start then accepts both a log and, after a clean shutdown, a missing log.
    func markOpening() throws { try update { $0.wasClosedWithoutLog = false } }

    /// Call before the first change is acknowledged. From then on the log contains acknowledged changes, and a missing
    /// log is an error.
    ///
    /// - Parameters:
    ///   - source: the source that the setting `master-key` names. The daemon has loaded a key from this source.
    ///   - claims: the claims file; nil if the daemon cannot use it. The entries of an earlier run then stay.
    func markOpen(masterKeyFrom source: MasterKeySource, claims: ClaimStore?) throws {
        try update {
            $0.masterKeySource = source.description
            $0.expectsLog = true
            $0.inodeIfReplaced = nil
            if let claims { $0.claimsOpened(claims) }
        }
    }

    /// Call before the first claim is stored in a claims file that was opened while the daemon serves.
    func markOpen(_ claims: ClaimStore) throws { try update { $0.claimsOpened(claims) } }

    /// Call after the claims file was closed.
    ///
    /// A failure is ignored. In the worst case the next start warns that the log of the claims file is missing,
    /// although no claim was lost.
    ///
    /// - Parameter leavingLog: whether the claims file has a write-ahead log after the close.
    func markClaimsClosed(leavingLog: Bool) { try? update { $0.expectsClaimsLog = leavingLog } }
}

extension LockFileContent {
    fileprivate mutating func claimsOpened(_ claims: ClaimStore) {
        expectsClaimsLog = true
        newestClaim = claims.newestClaimWhenOpened
        let generation = claims.logGeneration ?? "none"
        guard !claims.hadLogWhenOpened || claimsLog?.generation != generation else { return }
        claimsLog = .init(
            generation: generation, lastWhenStarted: claims.hadLogWhenOpened ? nil : claims.newestClaimWhenOpened)
    }

    fileprivate mutating func clearDatabaseEntries() {
        inodeIfReplaced = nil
        head = nil
        log = nil
    }
}

extension InstanceLock: ClaimsObserver {
    /// Writes the newest claim into the lock file. If the write fails, ``StoreRecovery`` repeats it.
    func claimsGrew(to newest: ClaimMark, inLog generation: String) {
        state.withLock { state in
            state.advance(to: newest, inLog: generation)
            if !write(&state) { state.isFileOutdated = true }
        }
    }
}

extension InstanceLock: AuditObserver {
    /// Writes the new last audit record into the lock file. If the write fails, ``StoreRecovery`` repeats it, because
    /// the lock file would otherwise name an older record as the last one.
    func auditGrew(to head: AuditHead, inLog generation: String) {
        state.withLock { state in
            state.change { $0.advance(to: head, inLog: generation) }
            if !write(&state) { state.isFileOutdated = true }
        }
    }
}

// MARK: - The file

extension InstanceLock {
    /// The largest number of bytes that are read or written.
    private static let largestSize = 4096

    /// - Returns: the first line, which is the process identifier of the daemon that wrote the file, and the content;
    ///   nil if the file cannot be read.
    private static func read(_ file: CInt) -> (holder: Substring?, content: LockFileContent)? {
        var bytes = [UInt8](repeating: 0, count: largestSize)
        let count = pread(file, &bytes, bytes.count, 0)
        guard count >= 0 else { return nil }
        let lines = String(decoding: bytes[..<count], as: UTF8.self).split(separator: "\n")
        return (lines.first, LockFileContent(lines.dropFirst()))
    }

    private static func encoded(_ lines: [String]) -> [UInt8] {
        var bytes: [UInt8] = []
        for line in lines {
            bytes += line.utf8
            bytes.append(UInt8(ascii: "\n"))
        }
        return bytes
    }

    /// Overwrites the file and truncates it only afterwards. This works on a full disk, because the file keeps its
    /// block. Runs at each commit that adds audit records or claims. So it truncates the file only if the content is
    /// shorter than before, or if the former length is unknown. It encodes only lines that may have changed.
    private func write(_ state: inout State) -> Bool {
        let other =
            state.otherLines ?? (
                before: Self.encoded(["\(getpid())"] + state.content.linesBeforeNewestClaim),
                after: Self.encoded(state.content.linesAfterNewestClaim)
            )
        state.otherLines = other
        let text = other.before + Self.encoded(state.content.newestClaimLines) + other.after
        let (length, former) = (min(text.count, Self.largestSize), state.length)
        state.length = .max
        guard pwrite(descriptor, text, length, 0) == length,
            length >= former || ftruncate(descriptor, off_t(length)) == 0
        else { return false }
        state.length = length
        return true
    }
}
