import Glibc
import Logging
import MerchantCore
import MerchantOperations
import SQLiteStore
import Vocabulary

/// Whether the database is the one that was here last, as new as it was then.
enum DatabaseHistory {
    /// A finding, and what is to be done about it.
    struct Loss {
        let found: String
        let remedy: String
    }

    /// What is gone from the database as far as its files and the lock tell, before anything is opened.
    ///
    /// The log of a daemon that was killed holds what it acknowledged last: without it the database is older than it was.
    static func losses(_ settings: Settings, _ marks: LockMarks) -> [Loss] {
        var losses = marks.unrecordedLosses.map {
            Loss(found: $0, remedy: "an earlier start went on in spite of it and ended before it was on record")
        }
        guard losses.isEmpty else { return losses }
        let (path, log) = (settings.databasePath, settings.databasePath + "-wal")
        let (database, logFile) = (content(path), file(log))
        let traces = [
            marks.isOpen || marks.replaced != nil ? "its mark in the lock" : nil,
            (logFile?.size ?? 0) > 0 ? "its write-ahead log" : nil,
            file(settings.claimsPath) != nil ? "the file of claims" : nil,
        ].compactMap { $0 }
        if database == nil, !traces.isEmpty {
            losses.append(
                Loss(
                    found:
                        "the database \(path) is gone or empty, which a daemon had in use here: found \(traces.joined(separator: " and "))",
                    remedy: "put the file back, with its '-wal', or restore a backup"))
        } else if let replaced = marks.replaced, let database, database.inode != replaced {
            losses.append(
                Loss(
                    found:
                        "the database \(path) was moved or replaced while the last daemon had it in use: found inode \(database.inode), expected \(replaced)",
                    remedy: "put back the file that was there, with its '-wal', or restore a backup"))
        } else if database != nil, marks.isOpen, (logFile?.size ?? 0) == 0,
            let lost = logFile == nil ? lostWithLog(path, marks) : lostWithContent(path, marks)
        {
            let end = marks.head?.isLast == true ? "" : "the last daemon here did not end in order, and "
            losses.append(
                Loss(
                    found:
                        "\(end)the database's write-ahead log \(log) is \(logFile == nil ? "gone" : "empty"): \(lost)",
                    remedy: "put the file back, or restore a backup"))
        }
        return losses
    }

    /// What the database lacks without the log that is gone.
    ///
    /// Any program that opens a database after a kill, such as SQLite's shell, carries the log over and removes it as it ends,
    /// its shared memory first: where the audit's last record is in the database then, nothing is lost.
    private static func lostWithLog(_ path: String, _ marks: LockMarks) -> String? {
        guard let head = marks.head else { return "what was acknowledged last may not be in the database" }
        guard file(path + "-shm") == nil, DatabaseInspection.holds(head.end, in: path) else {
            return
                "expected record \(head.end.sequence) of the audit, and all before it, in a sound database: what was acknowledged last is not in it"
        }
        return head.doubt.map {
            "\($0), so what was acknowledged last may not be in the database, which holds record \(head.end.sequence) of the audit; nothing is lost where another program, such as sqlite3, had the database open meanwhile and carried the log over"
        }
    }

    /// The same for a log that was cut to nothing: SQLite does so once all of it is in the database.
    private static func lostWithContent(_ path: String, _ marks: LockMarks) -> String? {
        guard let head = marks.head, DatabaseInspection.lacks(head.end, inFileAlone: path, isSound: false) else {
            return nil
        }
        return "record \(head.end.sequence) of the audit, which was acknowledged, is not in the database"
    }

    /// SQLite takes whatever log lies beside a database for its own: another file's destroys the database, and beside a new
    /// one the log, with what was acknowledged last, is thrown away. Nobody may accept that.
    ///
    /// - Returns: what is wrong, in words that say what to do; nil for nothing.
    static func unexpectedLog(_ settings: Settings, _ marks: LockMarks) -> String? {
        let (path, log) = (settings.databasePath, settings.databasePath + "-wal")
        guard let found = file(log), found.size > 0 else { return nil }
        let database = content(path)
        if let database, marks.isClosed {
            guard !isOfProgram(path, marks) else { return nil }
            return
                "the write-ahead log \(log) was put beside the database since the last daemon ended in order: found \(found.size) bytes, expected none. It is of another time or of another database than \(path) (inode \(database.inode)), which it would destroy: move it away. Only where both files were copied here together, from a daemon that ran: remove \(settings.lockPath)"
        }
        let there = database.map { "inode \($0.inode)" } ?? (file(path) == nil ? "no file" : "an empty file")
        let remedy =
            "put that file back beside it, or restore a backup; only where it is lost, move the log away and start with --accept-older-database"
        if database == nil || marks.replaced.map({ $0 != database?.inode }) == true {
            return
                "the write-ahead log \(log) belongs to another database than \(path): found \(there), expected \(marks.replaced.map { "inode \($0) ('ls -i' shows it; where both files were copied back together, remove \(settings.lockPath))" } ?? "the file that it was written for"). It holds what was acknowledged last: \(remedy)"
        }
        guard marks.isOpen, let missing = missingBeneathLog(path, marks) else { return nil }
        return
            "the database \(path) is older than its write-ahead log \(log), which it would be mixed with: expected record \(missing.sequence) of the audit in it, which was there before the log was begun. It was replaced by an older copy since the last daemon ran: \(remedy)"
    }

    /// The audit record that the database's file must hold by itself for its log to fit, where it does not.
    ///
    /// The lock names the log that the last record lies in. Where the log has been begun anew since, that record is in the file.
    private static func missingBeneathLog(_ path: String, _ marks: LockMarks) -> AuditHead? {
        guard let log = marks.log else { return nil }
        let isSame = DatabaseInspection.logGeneration(of: path) == log.generation
        guard let expected = isSame ? log.base : marks.head?.end,
            DatabaseInspection.lacks(expected, inFileAlone: path, isSound: true)
        else { return nil }
        return expected
    }

    /// Whether a log is that of a program that has the database open, and both together are what the last daemon left.
    private static func isOfProgram(_ path: String, _ marks: LockMarks) -> Bool {
        guard let head = marks.head, isInUse(path) else { return false }
        return DatabaseInspection.holds(head.end, in: path)
    }

    /// Whether another process has the database open: each holds SQLite's lock on its shared memory as long as it does.
    private static func isInUse(_ path: String) -> Bool {
        let file = open(path + "-shm", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else { return false }
        defer { close(file) }
        var lock = flock()
        (lock.l_type, lock.l_whence) = (Int16(F_WRLCK), Int16(SEEK_SET))
        (lock.l_start, lock.l_len) = (sharedMemoryLock, 1)
        return fcntl(file, F_GETLK, &lock) == 0 && lock.l_type != Int16(F_UNLCK)
    }

    /// The byte that SQLite calls UNIX_SHM_DMS, of the format of the file of shared memory.
    private static let sharedMemoryLock: off_t = 128

    /// Whether a log with content is there.
    static func hasLog(_ settings: Settings) -> Bool { (file(settings.databasePath + "-wal")?.size ?? 0) > 0 }

    /// The database's file, where it has content. SQLite makes a new database of an empty one, and removes the log beside it.
    private static func content(_ path: String) -> (inode: UInt64, size: Int)? {
        file(path).flatMap { $0.size > 0 ? $0 : nil }
    }

    private static func file(_ path: String) -> (inode: UInt64, size: Int)? {
        var found = stat()
        return lstat(path, &found) == 0 ? (UInt64(found.st_ino), Int(found.st_size)) : nil
    }

    /// Holds the last head that was shipped against the database.
    ///
    /// - Returns: nil where nothing is gone.
    static func olderThanShipped(
        _ settings: Settings, _ operations: AuditOperations, _ logger: Logger
    ) async throws -> Loss? {
        guard let file = settings.auditHead.file else { return nil }
        let end = try await operations.head()
        guard let last = try HeadFile(path: file).last() else {
            if end != nil {
                logger.warning(
                    "no head of the audit is in the file: the database is held against nothing at this start",
                    metadata: ["file": "\(file)"])
            }
            return nil
        }
        guard let found = try await operations.difference(from: last.head) else { return nil }
        return Loss(
            found:
                "the database does not hold what the audit's head says that was shipped at \(last.at) to \(file): \(found.detail); its last record is \(end.map { "\($0.sequence)" } ?? "none")",
            remedy: "put the newer database back, or restore the newest backup")
    }

    /// What is said where losses were not accepted.
    static func refusal(_ losses: [Loss]) -> String {
        losses.map { "\($0.found): \($0.remedy)" }.joined(separator: "; ")
            + "; to go on with this database, knowing that changes are lost, start once with --accept-older-database"
    }
}
