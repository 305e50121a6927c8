package import MerchantCore
package import Vocabulary

/// What a start of the daemon, `config check` or `diagnose` finds in the state directory, and on PostgreSQL in the
/// database. ``findings`` lists the problems.
package struct StartObservation: Equatable, Sendable {
    /// The file that a path names. A symbolic link is not followed.
    package struct File: Equatable, Sendable {
        package var inode: UInt64
        /// In bytes.
        package var size: Int

        package init(inode: UInt64, size: Int) { (self.inode, self.size) = (inode, size) }

        /// False also for a file of one byte, which SQLite treats as empty.
        var hasContent: Bool { size > 1 }
    }

    /// Where the master key comes from, and what is known about it.
    package enum MasterKey: Equatable, Sendable {
        /// From a systemd credential or a command. Only loading the key shows whether it exists.
        case supplied
        case file(path: String, exists: Bool)
        /// The key was loaded, but does not open the database. The text is the reason.
        case rejected(String)
    }

    /// A question about the audit record with the number and hash of the ``AuditHead``. The answer may need a read of
    /// the whole database file, so a start asks at most one question.
    package enum AuditQuestion: Hashable, Sendable {
        /// Does the database contain the record, and does the database pass the integrity check?
        case isInIntactDatabase(AuditHead)
        /// Does the database file, read without its write-ahead log, lack the record?
        case isMissingFromFile(AuditHead)
        /// Does the database file, read without its write-ahead log, lack the record, and does the file pass the
        /// integrity check?
        case isMissingFromIntactFile(AuditHead)
    }

    /// How the audit in the database compares with audit heads that were recorded outside the database. The
    /// comparison shows whether an older copy of the database was put back.
    package struct AuditComparison: Equatable, Sendable {
        /// Which backup the database was restored from, and when; nil if no backup was restored, or if a start has
        /// recorded the restore completely.
        package var restoredFrom: String?
        /// The last audit record in the database.
        package var headInDatabase: AuditHead?
        package var shippedHead: ShippedHead
        /// Whether the database contains no audit record, and was not restored.
        var isAuditEmpty: Bool { headInDatabase == nil && restoredFrom == nil }
        /// How the database differs from the audit head in the lock file. Nil if the database contains that audit
        /// record, or if the lock file contains no head.
        package var differenceFromLockFile: String?

        package init(
            restoredFrom: String? = nil, headInDatabase: AuditHead? = nil, shippedHead: ShippedHead = .notConfigured,
            differenceFromLockFile: String? = nil
        ) {
            self.restoredFrom = restoredFrom
            self.headInDatabase = headInDatabase
            self.shippedHead = shippedHead
            self.differenceFromLockFile = differenceFromLockFile
        }
    }

    /// The last audit head in `audit.head.file`.
    package enum ShippedHead: Equatable, Sendable {
        /// The setting `audit.head.file` is not set.
        case notConfigured
        /// The file is missing or contains no head yet.
        case none(file: String)
        /// - Parameter difference: how the database differs from the head; nil if the database contains that audit
        ///   record.
        case found(file: String, head: AuditHead, at: Timestamp, difference: String?)
    }

    /// A change of the setting `environment` since the last start with the same database.
    package struct EnvironmentChange: Equatable, Sendable {
        package let before: Environment
        package let now: Environment

        /// - Returns: nil if the setting is the same, or if there was no start before.
        package init?(from before: Environment?, to now: Environment) {
            guard let before, before != now else { return nil }
            (self.before, self.now) = (before, now)
        }
    }

    // The messages of findings contain the paths. On PostgreSQL, the path of the database is the name of the database.
    package var databasePath: String
    package var lockPath: String
    package var claimsPath: String

    /// What was found on the PostgreSQL server; nil if the daemon uses SQLite. With a server, the properties about
    /// files have their initial values, except ``masterKey`` and ``lockFile``.
    package var server: Server?
    /// Nil if the file is missing.
    package var database: File?
    /// The database's write-ahead log; nil if the file is missing.
    package var log: File?
    /// Whether SQLite's shared memory file (`-shm`) exists.
    package var hasSharedMemory = false
    /// Whether a daemon runs in the state directory. Always false at a start.
    package var isDaemonRunning = false
    /// Whether another process has the database open. Such a process holds SQLite's lock on the shared memory file.
    package var isDatabaseInUse = false
    /// Identifies the log until SQLite overwrites it from its beginning; nil if the log is missing or empty.
    package var logGeneration: String?
    /// The database file of the claims, which record the used payment tokens; nil if the file is missing.
    package var claims: File?
    /// Whether the claims file lacks the newest claim that the lock file names. False if the file cannot be read.
    package var lacksNewestClaim = false
    /// The write-ahead log of the claims file; nil if the log is missing.
    package var claimsLog: File?
    package var isRestoreUnfinished = false
    package var masterKey: MasterKey
    /// What the last daemon wrote into the lock file.
    package var lockFile = LockFileContent()
    /// Identifies the current boot of the machine; empty if the kernel does not provide it.
    package var bootIdentifier = ""
    /// The answer to ``auditQuestion``; nil if there is no question.
    package var auditAnswer: Bool?
    /// Nil if the database has not been read yet.
    package var auditComparison: AuditComparison?
    /// Nil also if the database has not been read yet.
    package var environmentChange: EnvironmentChange?

    package init(databasePath: String, lockPath: String, claimsPath: String, masterKey: MasterKey) {
        self.databasePath = databasePath
        self.lockPath = lockPath
        self.claimsPath = claimsPath
        self.masterKey = masterKey
    }
}

extension StartObservation {
    package var logPath: String { "\(databasePath)-wal" }

    /// False also for an empty file, which SQLite treats as a new database: it removes the log beside that file.
    var hasDatabaseContent: Bool { database?.hasContent ?? false }
    var hasLogContent: Bool { (log?.size ?? 0) > 0 }
    /// False also for an empty file, in which the daemon creates a new database.
    var hasClaims: Bool { claims?.hasContent ?? false }
    var hasClaimsLog: Bool { claimsLog != nil }
    /// Whether the path of the database no longer names the file that the last daemon had open.
    var isDatabaseReplaced: Bool { lockFile.inodeIfReplaced.map { $0 != database?.inode } ?? false }

    /// The question about the audit records that ``findings`` needs answered; nil if there is none.
    package var auditQuestion: AuditQuestion? {
        // ``findings`` needs no answer to report a replaced database. But a log that was put beside the database after
        // a clean shutdown is checked first.
        guard !isRestoreUnfinished, hasDatabaseContent,
            !isDatabaseReplaced || (lockFile.wasClosedWithoutLog && hasLogContent)
        else {
            return nil
        }
        if hasLogContent {
            if lockFile.wasClosedWithoutLog {
                // The last daemon left no log, so another program created this one or put it there.
                return isDatabaseInUse ? lockFile.head.map { .isInIntactDatabase($0.auditHead) } : nil
            }
            guard lockFile.expectsLog else { return nil }
            // Is the database file older than its log?
            return recordExpectedInFile.map { .isMissingFromIntactFile($0) }
        }
        // The log is missing or empty. Does the database lack the changes of the log?
        guard lockFile.expectsLog, lockFile.lossesNotInAudit.isEmpty, let head = lockFile.head else { return nil }
        guard log == nil else { return .isMissingFromFile(head.auditHead) }
        return hasSharedMemory ? nil : .isInIntactDatabase(head.auditHead)
    }

    /// Whether the database is intact and contains the record. Valid only if ``auditQuestion`` is
    /// `isInIntactDatabase`.
    var databaseHoldsRecord: Bool { auditAnswer == true }

    /// Whether the database file lacks the record. Valid only if ``auditQuestion`` is `isMissingFromFile` or
    /// `isMissingFromIntactFile`.
    var fileLacksRecord: Bool { auditAnswer == true }

    /// An audit record that the database file contains even without its log, if the log belongs to that file. Nil if
    /// unknown.
    ///
    /// The lock file names the generation of the log that contains the last record. If the log has another generation
    /// now, SQLite has copied the earlier generation into the database file, so the file contains the last record. If
    /// the generation is the same, the file contains the record that was the last when the log was started.
    var recordExpectedInFile: AuditHead? {
        guard let log = lockFile.log else { return nil }
        return log.generation == logGeneration ? log.lastWhenStarted : lockFile.head?.auditHead
    }
}
