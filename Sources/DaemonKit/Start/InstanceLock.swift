import Glibc
import MerchantCore
import Synchronization

/// One daemon a directory: held for the life of the process, let go by the kernel however it ends.
///
/// The file also tells the next daemon how this one ended. Its first line is the holder's process. Of those after it, `open` says
/// that the database is in use, `closed` that it was closed and left no log, `displaced` which file the database was before
/// another took its place, `head` where the audit ended, and each `lost` is a loss that is not in the audit yet. Between `open`
/// and `closed`, while the database is being opened or closed, nothing is said: a log may be there or not. What stands after
/// `end` was left by a longer write.
final class InstanceLock: Sendable {
    struct Marks: Equatable {
        /// Whether the database was not closed: the daemon runs, was killed, or the machine stopped.
        var isOpen = false
        /// Whether the database was closed and no log was left: one that lies there now was put there.
        var isClosed = false
        /// The inode of the database's file, where it was taken from its place while in use: the log belongs to it.
        var displaced: UInt64?
        /// The last end of the audit that anybody was answered upon.
        var head: Head?
        /// What is known to be gone from the database, in words, and is not on record yet.
        var unrecordedLosses: [String] = []
    }

    /// Where the audit ended, and on which boot of the machine.
    ///
    /// It is written at each commit, but synced only with the other marks: whatever a killed daemon acknowledged is in it; what
    /// was acknowledged before a loss of power may go further.
    struct Head: Hashable {
        let end: AuditHead
        let boot: String

        var isOfThisBoot: Bool { !boot.isEmpty && boot == Self.boot }

        /// Empty where the kernel does not say.
        static let boot: String = {
            let file = Glibc.open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
            guard file >= 0 else { return "" }
            defer { close(file) }
            var bytes = [UInt8](repeating: 0, count: 64)
            let count = max(0, Glibc.read(file, &bytes, bytes.count))
            return String(decoding: bytes[..<count].prefix { $0 > 0x20 }, as: UTF8.self)
        }()

        /// Where nothing is known of the boot, it stands alone.
        var text: String { boot.isEmpty ? end.description : "\(end) \(boot)" }

        init(_ end: AuditHead) { (self.end, boot) = (end, Self.boot) }

        /// Reads what ``text`` writes.
        init?(text: String) {
            let words = text.split(separator: " ")
            guard let first = words.first, let end = AuditHead(first) else { return nil }
            (self.end, boot) = (end, words.count > 1 ? String(words[1]) : "")
        }
    }

    private let descriptor: CInt
    /// What the last daemon here left.
    let found: Marks
    private let marks: Mutex<Marks>

    /// - Throws: ``SettingsError`` naming the process that holds the directory.
    init(path: String) throws {
        let file = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else {
            throw SettingsError("the lock file \(path) cannot be opened: \(String(cString: strerror(errno)))")
        }
        let isHeld = flock(file, LOCK_EX | LOCK_NB) != 0
        let (holder, found) = Self.read(file)
        guard !isHeld else {
            close(file)
            throw SettingsError(
                "the state directory is in use by another merchantkeyd, process \(holder ?? "unknown") (lock \(path)), expected none"
            )
        }
        descriptor = file
        self.found = found
        marks = Mutex(found)
        try set { _ in }
    }

    /// What the daemon that runs, or ran last, left. For whoever only looks.
    static func marks(_ path: String) -> Marks {
        let file = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else { return Marks() }
        defer { close(file) }
        return read(file).marks
    }

    /// Changes the marks, durably.
    func set(_ change: (inout Marks) -> Void) throws {
        try marks.withLock { marks in
            change(&marks)
            guard Self.write(marks, to: descriptor), fsync(descriptor) == 0 else {
                throw SettingsError("the lock file cannot be written: \(String(cString: strerror(errno)))")
            }
        }
    }

    var unrecordedLosses: [String] { marks.withLock { $0.unrecordedLosses } }
    var displaced: UInt64? { marks.withLock { $0.displaced } }

    /// Keeps losses until they are on record.
    func keep(_ losses: [String]) throws {
        let new = losses.filter { !unrecordedLosses.contains($0) }
        guard !new.isEmpty else { return }
        // Whatever file was missed, from now on it is among the losses.
        try set {
            $0.unrecordedLosses += new
            $0.displaced = nil
        }
    }

    /// The database's file is no longer in its place; what is in the log must meet no other.
    ///
    /// Where it cannot be kept, nothing else is to be done about it: the store takes no more changes.
    func markDisplaced(_ inode: UInt64) { try? set { $0.displaced = inode } }

    /// To be called before the database is closed: that takes its write-ahead log away.
    ///
    /// Where it fails, the next start is refused for a log that is missing: better than one that passes.
    func markClosing() { try? set { $0.isOpen = false } }

    /// To be called after the database was closed. A log that is still there holds what the next start must not miss.
    func markClosed(leavingLog: Bool) throws {
        try set {
            $0.isOpen = leavingLog
            $0.isClosed = !leavingLog
            $0.displaced = nil
        }
    }

    /// To be called before the database is opened: from now on there may be a log, and one that is missing is not missed yet.
    func markOpening() throws { try set { $0.isClosed = false } }

    /// To be called before anything is acknowledged: from now on the log belongs to the database.
    func markOpen() throws {
        try set {
            $0.isOpen = true
            $0.displaced = nil
        }
    }

    private static let open = "open"
    private static let closed = "closed"
    private static let displaced = "displaced "
    private static let head = "head "
    private static let lost = "lost "
    private static let end = "end"
    /// The most that is read and written, in bytes.
    private static let size = 4096

    private static func read(_ file: CInt) -> (holder: Substring?, marks: Marks) {
        var bytes = [UInt8](repeating: 0, count: size)
        let count = max(0, pread(file, &bytes, bytes.count, 0))
        let lines = String(decoding: bytes[..<count], as: UTF8.self).split(separator: "\n")
        let rest = lines.dropFirst().prefix { $0 != end }
        func after(_ prefix: String) -> [String] {
            rest.filter { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) }
        }
        return (
            lines.first,
            Marks(
                isOpen: rest.contains { $0 == open }, isClosed: rest.contains { $0 == closed },
                displaced: after(displaced).lazy.compactMap { UInt64($0) }.first,
                head: after(head).lazy.compactMap { Head(text: $0) }.first,
                unrecordedLosses: after(lost))
        )
    }

    /// Over what is there, then cut: a full disk has room for a block that is there already.
    private static func write(_ marks: Marks, to file: CInt) -> Bool {
        let lines =
            ["\(getpid())"] + (marks.isOpen ? [open] : []) + (marks.isClosed ? [closed] : [])
            + (marks.displaced.map { ["\(displaced)\($0)"] } ?? []) + (marks.head.map { [head + $0.text] } ?? [])
            + marks.unrecordedLosses.map { lost + $0.replacing("\n", with: " ") } + [end]
        let text = Array(lines.map { "\($0)\n" }.joined().utf8.prefix(size))
        return pwrite(file, text, text.count, 0) == text.count && ftruncate(file, off_t(text.count)) == 0
    }

    deinit { close(descriptor) }
}

extension InstanceLock: AuditObserver {
    /// A write that fails leaves an older end there, which proves less of a database whose log is gone; the next one mends it.
    func auditGrew(to head: AuditHead) {
        marks.withLock { marks in
            marks.head = Head(head)
            _ = Self.write(marks, to: descriptor)
        }
    }
}
