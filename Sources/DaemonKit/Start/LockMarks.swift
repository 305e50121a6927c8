import MerchantCore
import Vocabulary

/// What the lock file tells the next daemon of how this one ended, a line each.
///
/// `open` says that the database is in use, `closed` that it was closed and left no log, `replaced` which file the database was
/// before another took its place, `head` where the audit ended, `log` which write-ahead log that lies in, and each `lost` is a loss
/// that is not in the audit yet. Before `open` and after `closed`, while the database is being opened, nothing is said: a log may
/// be there or not. What stands after `end` was left by a longer write.
struct LockMarks: Equatable {
    /// Whether the database was not closed: the daemon runs, was killed, or the machine stopped.
    var isOpen = false
    /// Whether the database was closed and no log was left: one that lies there now was put there.
    var isClosed = false
    /// The inode of the database's file, where it was taken from its place while in use: the log belongs to it.
    var replaced: UInt64?
    /// The last end of the audit that anybody was answered upon.
    var head: Head?
    /// The write-ahead log that ``head`` lies in.
    var log: Log?
    /// What is known to be gone from the database, in words, and is not on record yet.
    var unrecordedLosses: [String] = []

    /// Where the audit ended.
    ///
    /// It is written at each commit, but synced only with the other marks: whatever a killed daemon acknowledged is in it; what
    /// was acknowledged before a loss of power may go further.
    struct Head: Hashable {
        let end: AuditHead
        /// On which boot of the machine it was written; empty where the kernel did not say, ``last`` where nothing can follow.
        private let written: String

        private static let last = "last"

        init(_ end: AuditHead) { (self.end, written) = (end, Machine.bootIdentifier) }

        private init(_ end: AuditHead, written: String) { (self.end, self.written) = (end, written) }

        /// The same, of a daemon that takes no more changes. To be synced.
        var asLast: Head { Head(end, written: Self.last) }

        var isLast: Bool { written == Self.last }

        /// Why something may have been acknowledged after it; nil where nothing was.
        var doubt: String? {
            if isLast || !written.isEmpty && written == Machine.bootIdentifier { return nil }
            return written.isEmpty || Machine.bootIdentifier.isEmpty
                ? "it is not known whether the machine was restarted since" : "the machine was restarted since"
        }

        var text: String { written.isEmpty ? end.description : "\(end) \(written)" }

        /// Reads what ``text`` writes.
        init?(text: some StringProtocol) {
            let words = text.split(separator: " ")
            guard let first = words.first, let end = AuditHead(first) else { return nil }
            self.init(end, written: words.count > 1 ? String(words[1]) : "")
        }
    }

    /// A write-ahead log, from its beginning to when SQLite begins it anew.
    struct Log: Hashable {
        let generation: String
        /// Where the audit ended when it was begun: the database's file has held that ever since, by itself. Nil: unknown.
        let base: AuditHead?

        var text: String { base.map { "\(generation) \($0)" } ?? generation }

        init(generation: String, base: AuditHead?) { (self.generation, self.base) = (generation, base) }

        /// Reads what ``text`` writes.
        init?(text: some StringProtocol) {
            let words = text.split(separator: " ")
            guard let first = words.first else { return nil }
            self.init(generation: String(first), base: words.count > 1 ? AuditHead(words[1]) : nil)
        }
    }

    /// To be called where the audit has grown.
    ///
    /// - Parameter generation: of the log that `end` lies in; empty where it is unknown.
    mutating func grow(to end: AuditHead, inLog generation: String) {
        if generation.isEmpty {
            log = nil
        } else if log?.generation != generation {
            // SQLite begins a log anew only once all of it is in the database's file.
            log = Log(generation: generation, base: log == nil ? nil : head?.end)
        }
        head = Head(end)
    }
}

// MARK: - As text

extension LockMarks {
    private static let open = "open"
    private static let closed = "closed"
    private static let replaced = "replaced "
    private static let head = "head "
    private static let log = "log "
    private static let lost = "lost "
    private static let end = "end"

    var lines: [String] {
        (isOpen ? [Self.open] : []) + (isClosed ? [Self.closed] : [])
            + (replaced.map { ["\(Self.replaced)\($0)"] } ?? []) + (head.map { [Self.head + $0.text] } ?? [])
            + (log.map { [Self.log + $0.text] } ?? [])
            + unrecordedLosses.map { Self.lost + $0.replacing("\n", with: " ") } + [Self.end]
    }

    /// Reads ``lines``; passes over what it does not know.
    init(_ lines: some Sequence<Substring>) {
        for line in lines.prefix(while: { $0 != Self.end }) {
            func after(_ prefix: String) -> Substring? {
                line.hasPrefix(prefix) ? line.dropFirst(prefix.count) : nil
            }
            if line == Self.open {
                isOpen = true
            } else if line == Self.closed {
                isClosed = true
            } else if let text = after(Self.replaced) {
                replaced = UInt64(text)
            } else if let text = after(Self.head) {
                head = Head(text: text)
            } else if let text = after(Self.log) {
                log = Log(text: text)
            } else if let text = after(Self.lost) {
                unrecordedLosses.append(String(text))
            }
        }
    }
}
