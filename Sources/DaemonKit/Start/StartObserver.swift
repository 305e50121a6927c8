import Glibc
import KeyCustody
import MerchantCore
import SQLiteStore
import Vocabulary

/// Creates the ``StartObservation`` of the state directory, for a start, `config check` and `diagnose`. Changes
/// nothing.
struct StartObserver {
    let settings: Settings
    /// Whether a daemon runs in the state directory. Always false at a start.
    var isDaemonRunning = false

    /// The observer for a check, during which a daemon may run.
    static func forCheck(_ settings: Settings) -> StartObserver {
        StartObserver(settings: settings, isDaemonRunning: InstanceLock.isDirectoryLocked(settings.stateDirectory))
    }

    /// Observes the files. Call this before the database is opened, because opening it creates a write-ahead log.
    ///
    /// - Parameter lockFile: what the last daemon wrote into the lock file.
    /// - Throws: ``SettingsError`` if the restore marker cannot be read.
    func observeFiles(_ lockFile: LockFileContent) throws -> StartObservation {
        let path = settings.databasePath
        var found = StartObservation(
            databasePath: path, lockPath: settings.lockPath, claimsPath: settings.claimsPath, masterKey: masterKey)
        found.isDaemonRunning = isDaemonRunning
        found.database = Self.file(path)
        found.log = Self.file(found.logPath)
        found.hasSharedMemory = Self.file("\(path)-shm") != nil
        found.isDatabaseInUse = Self.isInUse(path)
        found.logGeneration = DatabaseInspection.logGeneration(of: path)
        found.claims = Self.file(settings.claimsPath)
        found.claimsLog = Self.file("\(settings.claimsPath)-wal")
        if found.hasClaims, let newest = lockFile.newestClaim {
            // If the file cannot be read, the daemon starts and refuses claims.
            found.lacksNewestClaim = (try? ClaimStore.lacks(newest, inFile: settings.claimsPath)) ?? false
        }
        found.isRestoreUnfinished = try RestoreMarker(path: settings.restoreMarkerPath).read() != nil
        found.lockFile = lockFile
        found.bootIdentifier = Machine.bootIdentifier
        found.auditAnswer = found.auditQuestion.map { answer($0, path) }
        return found
    }

    /// Compares the database with the audit heads in the lock file and in `audit.head.file`.
    ///
    /// - Parameters:
    ///   - restoredFrom: the description of a restore after which `audit.head.file` may still contain the head of the
    ///     old database; nil or empty if there is no such restore.
    ///   - headInDatabase: the last audit record in the database.
    ///   - lockFile: what the last daemon wrote into the lock file.
    ///   - difference: returns how the database differs from an audit head; nil if the database contains that audit
    ///     record.
    /// - Throws: ``SettingsError`` if `audit.head.file` cannot be read, and what `difference` throws.
    func compareAudit(
        restoredFrom: String?, headInDatabase: AuditHead?, _ lockFile: LockFileContent,
        difference: (AuditHead) async throws -> String?
    ) async throws -> StartObservation.AuditComparison {
        var comparison = StartObservation.AuditComparison(restoredFrom: restoredFrom, headInDatabase: headInDatabase)
        if comparison.restoredFrom == "" { comparison.restoredFrom = nil }
        if let head = lockFile.head?.auditHead { comparison.differenceFromLockFile = try await difference(head) }
        guard let (file, line) = try shippedLine() else { return comparison }
        comparison.shippedHead =
            if let line {
                .found(file: file, head: line.head, at: line.at, difference: try await difference(line.head))
            } else { .none(file: file) }
        return comparison
    }

    /// Compares an empty or missing database with the audit heads in the lock file and in `audit.head.file`.
    ///
    /// - Throws: ``SettingsError`` if `audit.head.file` cannot be read.
    func compareMissingAudit(_ lockFile: LockFileContent) throws -> StartObservation.AuditComparison {
        func difference(_ head: AuditHead) -> String? { AuditBreak.comparing(head, with: nil)?.detail }
        var comparison = StartObservation.AuditComparison()
        comparison.differenceFromLockFile = lockFile.head.flatMap { difference($0.auditHead) }
        guard let (file, line) = try shippedLine() else { return comparison }
        comparison.shippedHead =
            if let line {
                .found(file: file, head: line.head, at: line.at, difference: difference(line.head))
            } else { .none(file: file) }
        return comparison
    }

    /// - Returns: `audit.head.file`, with its last line; nil if the setting is not set.
    private func shippedLine() throws -> (file: String, line: HeadFile.Line?)? {
        guard let file = settings.auditHead.file else { return nil }
        return (file, try HeadFile(path: file).lastLine())
    }

    /// The finding that the master key file is missing although the database exists; otherwise nil.
    var missingMasterKey: StartFinding? {
        var found = withoutFiles
        found.isDaemonRunning = isDaemonRunning
        found.database = Self.file(settings.databasePath)
        return found.missingMasterKeyFinding
    }

    /// The finding that the write-ahead log of the claims file is missing.
    var missingClaimsLog: StartFinding { withoutFiles.missingClaimsLogFinding }

    /// The finding that the claims file lacks this claim.
    func olderClaims(lacking newestClaim: ClaimMark) -> StartFinding { withoutFiles.olderClaimsFinding(newestClaim) }

    private var withoutFiles: StartObservation {
        StartObservation(
            databasePath: settings.databasePath, lockPath: settings.lockPath, claimsPath: settings.claimsPath,
            masterKey: masterKey)
    }

    /// Whether the database's write-ahead log exists and is not empty.
    var hasLog: Bool { (Self.file("\(settings.databasePath)-wal")?.size ?? 0) > 0 }

    /// Whether the write-ahead log of the claims file exists.
    var hasClaimsLog: Bool { Self.file("\(settings.claimsPath)-wal") != nil }

    var masterKey: StartObservation.MasterKey {
        guard case .file(let path) = settings.masterKey.current else { return .supplied }
        return .file(path: path, exists: access(path, F_OK) == 0)
    }

    private func answer(_ question: StartObservation.AuditQuestion, _ path: String) -> Bool {
        switch question {
        case .isInIntactDatabase(let head): DatabaseInspection.isIntactAndContains(head, in: path)
        case .isMissingFromFile(let head): DatabaseInspection.lacks(head, inFileAlone: path, requiringIntact: false)
        case .isMissingFromIntactFile(let head):
            DatabaseInspection.lacks(head, inFileAlone: path, requiringIntact: true)
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
        (lock.l_start, lock.l_len) = (openDatabaseLockOffset, 1)
        return fcntl(file, F_GETLK, &lock) == 0 && lock.l_type != Int16(F_UNLCK)
    }

    /// The offset, in the shared memory file, of the byte that SQLite locks while the database is open. SQLite's source
    /// calls it UNIX_SHM_DMS.
    private static let openDatabaseLockOffset: off_t = 128
}
