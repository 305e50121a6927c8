package import MerchantCore
package import Vocabulary

/// What a start, or `diagnose`, finds in the state directory. ``StartDecision`` depends on nothing else.
package struct StartObservation: Equatable, Sendable {
    /// A file, by its name in the directory; a symbolic link is not followed.
    package struct File: Equatable, Sendable {
        package var inode: UInt64
        /// In bytes.
        package var size: Int

        package init(inode: UInt64, size: Int) { (self.inode, self.size) = (inode, size) }
    }

    package enum MasterKey: Equatable, Sendable {
        /// Comes from a systemd credential or a command, which only the daemon itself can ask.
        case supplied
        case file(path: String, exists: Bool)
        /// It was read and does not open the database, for this reason.
        case rejected(String)
    }

    /// A question about the audit records in the database file. To answer it, the whole file is read, so at most one is asked.
    package enum AuditQuestion: Hashable, Sendable {
        /// Does the database hold the record, and pass the integrity check?
        case intactDatabaseHolds(AuditHead)
        /// Does the file without its log lack the record?
        case fileLacks(AuditHead)
        /// Does the file without its log lack the record, and pass the integrity check?
        case intactFileLacks(AuditHead)
    }

    /// What can be read only once the database is open.
    package struct Content: Equatable, Sendable {
        /// The backup that the database was restored from, until a start has recorded the restore.
        package var restoredFrom: String?
        /// The last audit record.
        package var auditEnd: AuditHead?
        package var shippedHead: ShippedHead
        /// How the database differs at the head that the lock file names; nil: it does not, or the lock file names none.
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
        /// - Parameter difference: how the database differs at that record; nil: it does not.
        case found(file: String, head: AuditHead, at: Timestamp, difference: String?)
    }

    /// The paths that findings name.
    package var databasePath: String
    package var lockPath: String
    package var claimsPath: String

    package var database: File?
    /// The database's write-ahead log.
    package var log: File?
    package var hasSharedMemory = false
    /// Whether a process has the database open, by SQLite's lock on its shared memory.
    package var isDatabaseInUse = false
    /// Identifies the log until SQLite restarts it; nil where there is none.
    package var logGeneration: String?
    package var hasClaims = false
    package var hasClaimsLog = false
    package var isRestoreUnfinished = false
    package var masterKey: MasterKey
    package var marks = LockMarks()
    /// The current boot of the machine; empty where the kernel does not name it.
    package var bootIdentifier = ""
    /// The answer to ``auditQuestion``; nil where there is none, or the file cannot be read.
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

    /// SQLite treats an empty file as a new database, and removes the log beside it.
    var hasDatabaseContent: Bool { (database?.size ?? 0) > 0 }
    var hasLogContent: Bool { (log?.size ?? 0) > 0 }
    /// Whether the database's name leads to another file than the one that was in use.
    var isReplaced: Bool { marks.replaced.map { $0 != database?.inode } ?? false }

    /// The one question about the content of the database file that the decision depends on; nil where there is none.
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

    /// The audit record that the database file without its log holds, if the log belongs to it; nil: unknown.
    ///
    /// The lock file names the log that the last record is in. If SQLite has restarted the log since, the file holds that record.
    var recordBeneathLog: AuditHead? {
        guard let log = marks.log else { return nil }
        return log.generation == logGeneration ? log.base : marks.head?.end
    }
}
