package import MerchantCore
package import SQLiteStore
import Vocabulary

/// What the last daemon in the state directory wrote into the lock file, one entry on each line. With it, the next
/// start detects a missing write-ahead log, a replaced database file and older copies of the database and the claims
/// file.
///
/// | line | meaning |
/// | --- | --- |
/// | `open` | the database is in use, or was left with a write-ahead log |
/// | `closed` | the database was closed and no write-ahead log was left |
/// | `replaced INODE` | the database file was moved or replaced in use; INODE is the inode of the open file |
/// | `head HEAD [BOOT]` | the last acknowledged audit record; BOOT identifies the boot, or is `last` after a shutdown |
/// | `log GENERATION [HEAD]` | the log that contains the last record; HEAD was the last record when the log began |
/// | `claims open` | the claims file is in use, or was left with a write-ahead log |
/// | `newest-claim CLAIM` | the newest acknowledged claim: its id and transactionId |
/// | `claims-log GENERATION [CLAIM]` | the log that contains this claim; CLAIM was the newest when the log began |
/// | `lost TEXT` | a loss that the operator accepted and that the audit does not contain yet |
/// | `master-key SOURCE` | the source that the setting `master-key` of the daemon that uses the directory names |
/// | `listens ADDRESS` | a socket's path or a TCP address, `HOST:PORT`, of the daemon that uses the directory |
/// | `node RUN BOOT` | the number of the daemon's run on a PostgreSQL database; BOOT identifies the boot |
/// | `end` | the last line; lines below it are the rest of an earlier, longer content and are ignored |
///
/// After a clean shutdown, the next daemon removes `closed` before it opens the database, and writes `open` before it
/// acknowledges a change. In between, the file contains neither line, because a log may or may not exist.
package struct LockFileContent: Equatable, Sendable {
    /// The line `open`. A write-ahead log is expected while the daemon runs, after it was killed, and if it closed the
    /// database but left a log.
    package var expectsLog = false
    /// The line `closed`. If a write-ahead log exists nevertheless, somebody created it or put it there later.
    package var wasClosedWithoutLog = false
    /// The inode of the database file that the daemon had open; nil if that file was not moved or replaced meanwhile.
    /// The write-ahead log belongs to that file.
    package var inodeIfReplaced: UInt64?
    /// The last audit record whose change was acknowledged; on PostgreSQL, the last audit record that the daemon has
    /// seen in the database.
    package var head: Head?
    /// The write-ahead log that contains ``head``.
    package var log: Log<AuditHead>?
    /// The line `claims open`. A write-ahead log of the claims file is expected while the daemon uses this file, after
    /// it was killed, and if it closed the file but left a log. False if the daemon could not use the claims file.
    package var expectsClaimsLog = false
    /// The newest acknowledged claim; nil if unknown or if there was none. Like ``head``, exact after a kill, but
    /// possibly too old after a power failure.
    package var newestClaim: ClaimMark?
    /// The write-ahead log of the claims file that contains ``newestClaim``.
    package var claimsLog: Log<ClaimMark>?
    /// Descriptions of losses that the operator accepted, but that the audit does not contain yet.
    package var lossesNotInAudit: [String] = []
    /// The source that the setting `master-key` of the running daemon names, in the form of
    /// ``MasterKeySource/description``. Nil until the database is open.
    package var masterKeySource: String?
    /// The paths of the sockets and the TCP addresses, `HOST:PORT`, on which the daemon that uses the directory
    /// listens. `config check` must not report them as used by another program.
    package var listeners: [String] = []
    /// The number of the last daemon's run on a PostgreSQL database; nil if the machine was restarted since, or if the
    /// file was copied from another machine. The next daemon with this state directory replaces that run without
    /// waiting for its lease, because the process of that run has ended: it no longer holds the lock.
    package var nodeRun: Int64?

    package init(expectsLog: Bool = false, wasClosedWithoutLog: Bool = false) {
        self.expectsLog = expectsLog
        self.wasClosedWithoutLog = wasClosedWithoutLog
    }

    /// The number and hash of the last audit record, and who wrote them into the lock file.
    ///
    /// The daemon writes the head after each commit that adds audit records, but syncs the file only when it changes
    /// entries other than the head, the newest claim and their logs. So after a kill the head is exact. After a power
    /// failure, the file may contain an older head.
    package struct Head: Hashable, Sendable {
        package let auditHead: AuditHead
        private let writer: Writer

        private enum Writer: Hashable {
            /// A daemon that could make further changes. `boot` identifies the machine's boot at that time; it is empty
            /// if the kernel does not provide an identifier.
            case running(boot: String)
            /// A daemon that was shutting down and made no more changes.
            case shuttingDown
        }

        /// The text of ``Writer/shuttingDown`` in the file.
        private static let shutdownWord = "last"

        /// - Parameter boot: the identifier of the machine's boot, or ``shutdownWord``, which replaces it in the file.
        package init(_ auditHead: AuditHead, onBoot boot: String = Machine.bootIdentifier) {
            self.auditHead = auditHead
            writer = boot == Self.shutdownWord ? .shuttingDown : .running(boot: boot)
        }

        /// The same head, as a daemon that is shutting down writes it. The caller must sync the file.
        package var asWrittenAtShutdown: Head { Head(auditHead, onBoot: Self.shutdownWord) }

        /// Whether the daemon wrote the head after its last change.
        package var wasWrittenAtShutdown: Bool { writer == .shuttingDown }

        /// Why the database may have contained changes after this head: a restart of the machine may have lost a newer
        /// head that was not synced.
        ///
        /// - Parameter current: the current boot of the machine.
        /// - Returns: nil if later changes are not possible.
        package func whyLaterChangesArePossible(onBoot current: String) -> String? {
            guard case .running(let boot) = writer, boot.isEmpty || boot != current else { return nil }
            return boot.isEmpty || current.isEmpty
                ? "the machine may have been restarted since" : "the machine was restarted since"
        }

        var text: String {
            switch writer {
            case .running(let boot): boot.isEmpty ? auditHead.description : "\(auditHead) \(boot)"
            case .shuttingDown: "\(auditHead) \(Self.shutdownWord)"
            }
        }

        /// Reads what ``text`` writes.
        init?(text: some StringProtocol) {
            let words = text.split(separator: " ")
            guard let first = words.first, let auditHead = AuditHead(first) else { return nil }
            self.init(auditHead, onBoot: words.count > 1 ? String(words[1]) : "")
        }
    }

    /// One generation of the write-ahead log. SQLite starts a new generation when it overwrites the log from its
    /// beginning.
    package struct Log<Record: LosslessStringConvertible & Hashable & Sendable>: Hashable, Sendable {
        package let generation: String
        /// The last record when this generation was started, which the database file contains even without the log. Nil
        /// if unknown.
        package let lastWhenStarted: Record?

        var text: String { lastWhenStarted.map { "\(generation) \($0)" } ?? generation }

        package init(generation: String, lastWhenStarted: Record?) {
            (self.generation, self.lastWhenStarted) = (generation, lastWhenStarted)
        }

        /// The entry when a commit has added a record.
        ///
        /// - Parameters:
        ///   - before: the entry before the commit.
        ///   - last: the last record before the commit.
        ///   - generation: the generation that contains the new record; empty if unknown.
        static func next(after before: Self?, last: Record?, _ generation: String) -> Self? {
            guard !generation.isEmpty else { return nil }
            guard before?.generation != generation else { return before }
            // SQLite starts a new generation only after it copied the whole log into the database file. So the database
            // file contains the previous record. If the previous generation is unknown, so is the content of that file.
            return Self(generation: generation, lastWhenStarted: before == nil ? nil : last)
        }

        /// Reads what ``text`` writes.
        init?(text: some StringProtocol) {
            let words = text.split(separator: " ")
            guard let first = words.first else { return nil }
            self.init(generation: String(first), lastWhenStarted: words.count > 1 ? Record(String(words[1])) : nil)
        }
    }

    /// The content after a restore replaced the database: the line `closed`, and the entries about the claims file,
    /// which a restore does not change.
    var afterRestore: LockFileContent {
        var content = LockFileContent(wasClosedWithoutLog: true)
        (content.expectsClaimsLog, content.newestClaim, content.claimsLog) = (expectsClaimsLog, newestClaim, claimsLog)
        return content
    }

    /// Makes `auditHead` the last audit record.
    ///
    /// - Parameter generation: the generation of the log that contains the record; empty if unknown.
    package mutating func advance(to auditHead: AuditHead, inLog generation: String) {
        log = Log.next(after: log, last: head?.auditHead, generation)
        head = Head(auditHead)
    }

    /// Makes `claim` the newest claim.
    ///
    /// - Parameter generation: the generation of the log that contains the claim; empty if unknown.
    package mutating func advance(to claim: ClaimMark, inLog generation: String) {
        claimsLog = Log.next(after: claimsLog, last: newestClaim, generation)
        newestClaim = claim
    }

    /// A claim that the claims file contains even without its log, if the log belongs to that file. Nil if unknown.
    ///
    /// - Parameter generation: the generation of the log; nil if the log is missing or empty.
    func claimExpectedInFile(besideLog generation: String?) -> ClaimMark? {
        guard expectsClaimsLog, let claimsLog, let generation else { return nil }
        return claimsLog.generation == generation ? claimsLog.lastWhenStarted : newestClaim
    }
}

// MARK: - Text form

extension LockFileContent {
    private static let open = "open"
    private static let closed = "closed"
    private static let replaced = "replaced "
    private static let head = "head "
    private static let log = "log "
    private static let claimsOpen = "claims open"
    private static let newestClaim = "newest-claim "
    private static let claimsLog = "claims-log "
    private static let lost = "lost "
    private static let masterKey = "master-key "
    private static let listens = "listens "
    private static let node = "node "
    private static let end = "end"

    package var lines: [String] { linesBeforeNewestClaim + newestClaimLines + linesAfterNewestClaim }

    var linesBeforeNewestClaim: [String] {
        var lines: [String] = []
        if expectsLog { lines.append(Self.open) }
        if wasClosedWithoutLog { lines.append(Self.closed) }
        if let inodeIfReplaced { lines.append("\(Self.replaced)\(inodeIfReplaced)") }
        if let head { lines.append(Self.head + head.text) }
        if let log { lines.append(Self.log + log.text) }
        if expectsClaimsLog { lines.append(Self.claimsOpen) }
        return lines
    }

    /// The lines that ``advance(to:inLog:)-(ClaimMark,_)`` changes.
    var newestClaimLines: [String] {
        var lines: [String] = []
        if let newestClaim { lines.append("\(Self.newestClaim)\(newestClaim)") }
        if let claimsLog { lines.append(Self.claimsLog + claimsLog.text) }
        return lines
    }

    var linesAfterNewestClaim: [String] {
        var lines: [String] = []
        if let nodeRun { lines.append("\(Self.node)\(nodeRun) \(Machine.bootIdentifier)") }
        lines += listeners.map { Self.listens + Self.oneLine($0) }
        lines += lossesNotInAudit.map { Self.lost + Self.oneLine($0) }
        // The source comes last, because its text can be long, and content beyond the largest size is cut off.
        if let masterKeySource { lines.append(Self.masterKey + Self.oneLine(masterKeySource)) }
        return lines + [Self.end]
    }

    private static func oneLine(_ text: String) -> String {
        // The search for a byte is faster, and the lines are written at each commit.
        text.utf8.contains(UInt8(ascii: "\n")) ? text.replacing("\n", with: " ") : text
    }

    /// Reads the entries that ``lines`` returned. Ignores unknown lines.
    package init(_ lines: some Sequence<Substring>) {
        for line in lines.prefix(while: { $0 != Self.end }) {
            func after(_ prefix: String) -> Substring? {
                line.hasPrefix(prefix) ? line.dropFirst(prefix.count) : nil
            }
            if line == Self.open {
                expectsLog = true
            } else if line == Self.closed {
                wasClosedWithoutLog = true
            } else if line == Self.claimsOpen {
                expectsClaimsLog = true
            } else if let text = after(Self.newestClaim) {
                newestClaim = ClaimMark(text)
            } else if let text = after(Self.claimsLog) {
                claimsLog = Log(text: text)
            } else if let text = after(Self.replaced) {
                inodeIfReplaced = UInt64(text)
            } else if let text = after(Self.head) {
                head = Head(text: text)
            } else if let text = after(Self.log) {
                log = Log(text: text)
            } else if let text = after(Self.lost) {
                lossesNotInAudit.append(String(text))
            } else if let text = after(Self.listens) {
                listeners.append(String(text))
            } else if let text = after(Self.node) {
                let words = text.split(separator: " ")
                nodeRun = words.count == 2 && words[1] == Machine.bootIdentifier ? Int64(words[0]) : nil
            } else if let text = after(Self.masterKey) {
                masterKeySource = String(text)
            }
        }
    }
}
