package import MerchantCore
import Vocabulary

/// What the lock file records about the last daemon in the state directory, one mark on each line.
///
/// | line | meaning |
/// | --- | --- |
/// | `open` | the database is in use |
/// | `closed` | the database was closed and no write-ahead log was left |
/// | `replaced INODE` | another file took the database's name while it was in use; the database was this inode |
/// | `head HEAD [BOOT]` | the last audit record that was acknowledged |
/// | `log GENERATION [HEAD]` | the write-ahead log that holds it |
/// | `lost TEXT` | a loss that was accepted and is not in the audit yet |
/// | `end` | the last line; anything below it is left from a longer file |
///
/// Neither `open` nor `closed` is set while the database is being opened, when a log may exist or not.
package struct LockMarks: Equatable, Sendable {
    /// Whether the database was not closed: the daemon runs, was killed, or the machine stopped.
    package var isOpen = false
    /// Whether the database was closed without a log: a log that exists now was put there since.
    package var isClosed = false
    /// The inode of the database file that was moved or replaced while in use: the log belongs to that file.
    package var replaced: UInt64?
    /// The last audit record that was acknowledged.
    package var head: Head?
    /// The write-ahead log that holds ``head``.
    package var log: Log?
    /// Descriptions of losses that were accepted and are not in the audit yet.
    package var unrecordedLosses: [String] = []

    package init(isOpen: Bool = false, isClosed: Bool = false) {
        self.isOpen = isOpen
        self.isClosed = isClosed
    }

    /// The end of the audit.
    ///
    /// It is written at each commit, but synced only with the other marks. After a kill nothing was acknowledged after it; after
    /// a power failure something may have been.
    package struct Head: Hashable, Sendable {
        package let end: AuditHead
        private let writer: Writer

        private enum Writer: Hashable {
            /// A daemon that could still make changes, on this boot of the machine; empty where the kernel does not name it.
            case running(boot: String)
            /// A daemon that was shutting down and made no more changes.
            case shuttingDown
        }

        /// How ``Writer/shuttingDown`` is written.
        private static let last = "last"

        package init(_ end: AuditHead, onBoot boot: String = Machine.bootIdentifier) {
            (self.end, writer) = (end, boot == Self.last ? .shuttingDown : .running(boot: boot))
        }

        /// The same head, after which no change follows. Must be synced.
        package var asLast: Head { Head(end, onBoot: Self.last) }

        package var isLast: Bool { writer == .shuttingDown }

        /// Why changes may have been acknowledged after this head; nil where none can have been.
        package func doubt(onBoot current: String) -> String? {
            guard case .running(let boot) = writer, boot.isEmpty || boot != current else { return nil }
            return boot.isEmpty || current.isEmpty
                ? "the machine may have been restarted since" : "the machine was restarted since"
        }

        var text: String {
            switch writer {
            case .running(let boot): boot.isEmpty ? end.description : "\(end) \(boot)"
            case .shuttingDown: "\(end) \(Self.last)"
            }
        }

        /// Reads what ``text`` writes.
        init?(text: some StringProtocol) {
            let words = text.split(separator: " ")
            guard let first = words.first, let end = AuditHead(first) else { return nil }
            self.init(end, onBoot: words.count > 1 ? String(words[1]) : "")
        }
    }

    /// One write-ahead log, from when SQLite starts it until SQLite restarts it at its beginning.
    package struct Log: Hashable, Sendable {
        package let generation: String
        /// The end of the audit when the log was started, which the database file itself holds since; nil: unknown.
        package let base: AuditHead?

        var text: String { base.map { "\(generation) \($0)" } ?? generation }

        package init(generation: String, base: AuditHead?) { (self.generation, self.base) = (generation, base) }

        /// Reads what ``text`` writes.
        init?(text: some StringProtocol) {
            let words = text.split(separator: " ")
            guard let first = words.first else { return nil }
            self.init(generation: String(first), base: words.count > 1 ? AuditHead(words[1]) : nil)
        }
    }

    /// Notes a new last audit record.
    ///
    /// - Parameter generation: of the log that holds `end`; empty where it is unknown.
    package mutating func advance(to end: AuditHead, inLog generation: String) {
        if generation.isEmpty {
            log = nil
        } else if log?.generation != generation {
            // SQLite restarts a log only after all of it was copied into the database file.
            log = Log(generation: generation, base: log == nil ? nil : head?.end)
        }
        head = Head(end)
    }
}

// MARK: - Text form

extension LockMarks {
    private static let open = "open"
    private static let closed = "closed"
    private static let replaced = "replaced "
    private static let head = "head "
    private static let log = "log "
    private static let lost = "lost "
    private static let end = "end"

    package var lines: [String] {
        (isOpen ? [Self.open] : []) + (isClosed ? [Self.closed] : [])
            + (replaced.map { ["\(Self.replaced)\($0)"] } ?? []) + (head.map { [Self.head + $0.text] } ?? [])
            + (log.map { [Self.log + $0.text] } ?? [])
            + unrecordedLosses.map { Self.lost + $0.replacing("\n", with: " ") } + [Self.end]
    }

    /// Reads ``lines``; ignores unknown ones.
    package init(_ lines: some Sequence<Substring>) {
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
