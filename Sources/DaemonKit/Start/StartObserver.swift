import Glibc
import KeyCustody
import MerchantCore
import SQLiteStore
import Vocabulary

/// Reads the state directory into a ``StartObservation``, for the start and for `diagnose`. Changes nothing.
struct StartObserver {
    let settings: Settings

    /// Observes the files. Call it before the database is opened.
    ///
    /// - Throws: ``SettingsError`` if the restore marker cannot be read.
    func files(_ marks: LockMarks) throws -> StartObservation {
        let path = settings.databasePath
        var found = StartObservation(
            databasePath: path, lockPath: settings.lockPath, claimsPath: settings.claimsPath, masterKey: masterKey)
        found.database = Self.file(path)
        found.log = Self.file(found.logPath)
        found.hasSharedMemory = Self.file("\(path)-shm") != nil
        found.isDatabaseInUse = Self.isInUse(path)
        found.logGeneration = DatabaseInspection.logGeneration(of: path)
        found.hasClaims = Self.file(settings.claimsPath) != nil
        found.hasClaimsLog = Self.file("\(settings.claimsPath)-wal") != nil
        found.isRestoreUnfinished = try RestoreMarker(path: settings.restoreMarkerPath).read() != nil
        found.marks = marks
        found.bootIdentifier = Machine.bootIdentifier
        found.auditAnswer = found.auditQuestion.map { answer($0, path) }
        return found
    }

    /// - Parameters:
    ///   - restoredFrom: the backup that the database was restored from; nil or empty if there was no restore.
    ///   - auditEnd: the last audit record in the database.
    ///   - difference: returns how the database differs from an audit head; nil if it contains that audit record.
    /// - Throws: ``SettingsError`` if the file of shipped heads cannot be read, and what `difference` throws.
    func content(
        restoredFrom: String?, auditEnd: AuditHead?, _ marks: LockMarks,
        difference: (AuditHead) async throws -> String?
    ) async throws -> StartObservation.Content {
        var content = StartObservation.Content(restoredFrom: restoredFrom, auditEnd: auditEnd)
        if content.restoredFrom == "" { content.restoredFrom = nil }
        if let head = marks.head?.end { content.differenceFromLock = try await difference(head) }
        guard let file = settings.auditHead.file else { return content }
        guard let last = try HeadFile(path: file).last() else {
            content.shippedHead = .none(file: file)
            return content
        }
        content.shippedHead = .found(
            file: file, head: last.head, at: last.at, difference: try await difference(last.head))
        return content
    }

    /// Whether the database's write-ahead log exists and is not empty.
    var hasLog: Bool { (Self.file("\(settings.databasePath)-wal")?.size ?? 0) > 0 }

    private var masterKey: StartObservation.MasterKey {
        guard case .file(let path) = settings.masterKey.current else { return .supplied }
        return .file(path: path, exists: access(path, F_OK) == 0)
    }

    private func answer(_ question: StartObservation.AuditQuestion, _ path: String) -> Bool {
        switch question {
        case .intactDatabaseHolds(let head): DatabaseInspection.holds(head, in: path)
        case .fileLacks(let head): DatabaseInspection.lacks(head, inFileAlone: path, isSound: false)
        case .intactFileLacks(let head): DatabaseInspection.lacks(head, inFileAlone: path, isSound: true)
        }
    }

    private static func file(_ path: String) -> StartObservation.File? {
        FileStatus(of: path).map { StartObservation.File(inode: $0.inode, size: $0.size) }
    }

    /// Whether another process has the database open. Each such process holds SQLite's lock on the shared memory file.
    private static func isInUse(_ path: String) -> Bool {
        let file = open("\(path)-shm", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else { return false }
        defer { close(file) }
        var lock = flock()
        (lock.l_type, lock.l_whence) = (Int16(F_WRLCK), Int16(SEEK_SET))
        (lock.l_start, lock.l_len) = (sharedMemoryLock, 1)
        return fcntl(file, F_GETLK, &lock) == 0 && lock.l_type != Int16(F_UNLCK)
    }

    /// The offset of the lock byte that SQLite calls UNIX_SHM_DMS, in the shared memory file.
    private static let sharedMemoryLock: off_t = 128
}
