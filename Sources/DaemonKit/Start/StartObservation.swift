package import MerchantCore
package import Vocabulary

/// What a start, or `diagnose`, finds in the state directory. ``StartDecision`` depends on nothing else.
package struct StartObservation: Equatable, Sendable {
    /// The file that a path names. A symbolic link is not followed.
    package struct File: Equatable, Sendable {
        package var inode: UInt64
        /// In bytes.
        package var size: Int

        package init(inode: UInt64, size: Int) { (self.inode, self.size) = (inode, size) }
    }

    package enum MasterKey: Equatable, Sendable {
        /// From a systemd credential or a command. Only loading it shows whether it exists.
        case supplied
        case file(path: String, exists: Bool)
        /// The key was loaded, but does not open the database. The text is the reason.
        case rejected(String)
    }

    /// A question about the audit records in the database. The answer may need a read of the whole file, so a start
    /// asks at most one.
    package enum AuditQuestion: Hashable, Sendable {
        /// Does the database contain the record, and does it pass the integrity check?
        case intactDatabaseHolds(AuditHead)
        /// Does the database file, without its log, lack the record?
        case fileLacks(AuditHead)
        /// Does the database file, without its log, lack the record, and does the file pass the integrity check?
        case intactFileLacks(AuditHead)
    }

    /// What can be read only once the database is open.
    package struct Content: Equatable, Sendable {
        /// The backup that the database was restored from, until a start has recorded the restore.
        package var restoredFrom: String?
        /// The last audit record in the database.
        package var auditEnd: AuditHead?
        package var shippedHead: ShippedHead
        /// How the database differs from the audit head that the lock file names. Nil if it contains that audit record,
        /// or the lock file names none.
        package var differenceFromLock: String?

        package init(
            restoredFrom: String? = nil, auditEnd: AuditHead? = nil, shippedHead: ShippedHead = .notConfigured,
            differenceFromLock: String? = nil
        ) {
            self.restoredFrom = restoredFrom
            self.auditEnd = auditEnd
            self.shippedHead = shippedHead
            self.differenceFromLock = differenceFromLock
        }
    }

    /// The last audit head in `audit.head.file`.
    package enum ShippedHead: Equatable, Sendable {
        case notConfigured
        case none(file: String)
        /// - Parameter difference: how the database differs from the head; nil if it contains that audit record.
        case found(file: String, head: AuditHead, at: Timestamp, difference: String?)
    }

    /// The paths that findings name.
    package var databasePath: String
    package var lockPath: String
    package var claimsPath: String

    package var database: File?
    /// The database's write-ahead log.
    package var log: File?
    /// Whether SQLite's shared memory file (`-shm`) exists.
    package var hasSharedMemory = false
    /// Whether a process has the database open and so holds SQLite's lock on the shared memory file.
    package var isDatabaseInUse = false
    /// Identifies the log until SQLite restarts it; nil if there is no log.
    package var logGeneration: String?
    package var hasClaims = false
    package var hasClaimsLog = false
    package var isRestoreUnfinished = false
    package var masterKey: MasterKey
    package var marks = LockMarks()
    /// Identifies the current boot of the machine; empty if the kernel does not provide it.
    package var bootIdentifier = ""
    /// The answer to ``auditQuestion``; nil if there is no question.
    package var auditAnswer: Bool?
    /// Nil before the database is open.
    package var content: Content?

    package init(databasePath: String, lockPath: String, claimsPath: String, masterKey: MasterKey) {
        self.databasePath = databasePath
        self.lockPath = lockPath
        self.claimsPath = claimsPath
        self.masterKey = masterKey
    }
}

extension StartObservation {
    package var logPath: String { "\(databasePath)-wal" }

    /// False for an empty file: SQLite treats it as a new database, and removes the log beside it.
    var hasDatabaseContent: Bool { (database?.size ?? 0) > 0 }
    var hasLogContent: Bool { (log?.size ?? 0) > 0 }
    /// Whether the path of the database no longer names the file that the last daemon had open.
    var isReplaced: Bool { marks.replacedInode.map { $0 != database?.inode } ?? false }

    /// The only question about the audit records on which the decision depends; nil if it depends on none.
    package var auditQuestion: AuditQuestion? {
        guard !isRestoreUnfinished, hasDatabaseContent, !isReplaced || (marks.isClosed && hasLogContent) else {
            return nil
        }
        if hasLogContent {
            if marks.isClosed { return isDatabaseInUse ? marks.head.map { .intactDatabaseHolds($0.end) } : nil }
            guard marks.isOpen else { return nil }
            return recordBeneathLog.map { .intactFileLacks($0) }
        }
        guard marks.isOpen, marks.unrecordedLosses.isEmpty, let head = marks.head else { return nil }
        guard log == nil else { return .fileLacks(head.end) }
        return hasSharedMemory ? nil : .intactDatabaseHolds(head.end)
    }

    /// Whether the database is intact and contains the record. Use only if ``auditQuestion`` is `intactDatabaseHolds`.
    var databaseHoldsRecord: Bool { auditAnswer == true }

    /// Whether the database file lacks the record. Use only if ``auditQuestion`` is `fileLacks` or `intactFileLacks`.
    var fileLacksRecord: Bool { auditAnswer == true }

    /// An audit record that the database file must contain even without the log, if the log belongs to it. Nil if
    /// unknown.
    ///
    /// The lock file names the generation of the log that contains the last record. If the log has another generation
    /// now, SQLite has restarted it, so the database file contains the last record. If not, the file contains the
    /// record that was the last when the log was started.
    var recordBeneathLog: AuditHead? {
        guard let log = marks.log else { return nil }
        return log.generation == logGeneration ? log.base : marks.head?.end
    }
}
