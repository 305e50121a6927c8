package import MerchantCore
import Vocabulary

/// What the lock file records about the last daemon in the state directory, one mark on each line.
///
/// | line | meaning |
/// | --- | --- |
/// | `open` | the database is in use, or was left with a write-ahead log |
/// | `closed` | the database was closed and no write-ahead log was left |
/// | `replaced INODE` | the database file was moved or replaced while in use; the daemon had the file INODE open |
/// | `head HEAD [BOOT]` | the last acknowledged audit record; BOOT is the machine's boot, or `last` at a shutdown |
/// | `log GENERATION [HEAD]` | the write-ahead log with that record; HEAD was the last record when it was started |
/// | `lost TEXT` | a loss that was accepted and is not in the audit yet |
/// | `end` | the last line; lines below it are the rest of an earlier, longer content and are ignored |
///
/// Between `closed` and `open`, while the daemon opens the database, neither is set: a log may or may not exist then.
package struct LockMarks: Equatable, Sendable {
    /// Whether a write-ahead log is expected: the daemon runs, was killed, or closed the database but left a log.
    package var isOpen = false
    /// Whether the database was closed and no log was left. A log that exists now was put there or created since.
    package var isClosed = false
    /// The inode of the file that the daemon had open, if it was moved or replaced while in use. The log belongs to it.
    package var replacedInode: UInt64?
    /// The last audit record whose change was acknowledged.
    package var head: Head?
    /// The write-ahead log that contains ``head``.
    package var log: Log?
    /// Descriptions of losses that were accepted but are not in the audit yet.
    package var unrecordedLosses: [String] = []

    package init(isOpen: Bool = false, isClosed: Bool = false) {
        self.isOpen = isOpen
        self.isClosed = isClosed
    }

    /// The number and hash of the last audit record, and who wrote them into the lock file.
    ///
    /// The daemon writes the head after each commit, but syncs it only when it changes another mark. So after a kill
    /// the head is exact. After a power failure, later changes may have been acknowledged.
    package struct Head: Hashable, Sendable {
        package let end: AuditHead
        private let writer: Writer

        private enum Writer: Hashable {
            /// A daemon that could make further changes. `boot` identifies the boot of the machine on which it ran;
            /// empty if the kernel does not provide it.
            case running(boot: String)
            /// A daemon that was shutting down and made no more changes.
            case shuttingDown
        }

        /// The text of ``Writer/shuttingDown`` in the file.
        private static let last = "last"

        package init(_ end: AuditHead, onBoot boot: String = Machine.bootIdentifier) {
            (self.end, writer) = (end, boot == Self.last ? .shuttingDown : .running(boot: boot))
        }

        /// The same head, as a daemon writes it that makes no more changes. The caller must sync the file.
        package var asWrittenAtShutdown: Head { Head(end, onBoot: Self.last) }

        /// Whether the daemon wrote the head after its last change.
        package var wasWrittenAtShutdown: Bool { writer == .shuttingDown }

        /// Why changes may have been acknowledged after this head: the machine was restarted, which may have lost a
        /// newer head that was not synced.
        ///
        /// - Parameter current: the current boot of the machine.
        /// - Returns: nil if there can be no later changes.
        package func reasonForLaterChanges(onBoot current: String) -> String? {
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

    /// One generation of the write-ahead log. SQLite starts a new one when it overwrites the log from its beginning.
    package struct Log: Hashable, Sendable {
        package let generation: String
        /// The last audit record when this generation was started. The database file itself contains it. Nil if
        /// unknown.
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

    /// Makes `end` the last audit record.
    ///
    /// - Parameter generation: of the log that contains `end`; empty if it is unknown.
    package mutating func advance(to end: AuditHead, inLog generation: String) {
        if generation.isEmpty {
            log = nil
        } else if log?.generation != generation {
            // SQLite restarts a log only after it copied all of it into the database file. So that file contains the
            // former head.
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
            + (replacedInode.map { ["\(Self.replaced)\($0)"] } ?? []) + (head.map { [Self.head + $0.text] } ?? [])
            + (log.map { [Self.log + $0.text] } ?? [])
            + unrecordedLosses.map { Self.lost + $0.replacing("\n", with: " ") } + [Self.end]
    }

    /// Reads what ``lines`` writes. Ignores unknown lines.
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
                replacedInode = UInt64(text)
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
