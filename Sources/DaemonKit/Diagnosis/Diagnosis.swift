import Glibc
import KeyCustody
import MerchantCore
import MerchantOperations
import SQLiteStore
import Vocabulary

/// Checks files, database, keys and settings, whether the daemon runs or not. Changes nothing.
struct Diagnosis {
    enum Outcome: String, Encodable { case success, warning, failure }

    struct Check: Encodable {
        let name: String
        let outcome: Outcome
        let detail: String
        /// The ``StartFinding`` that the check reports, where it is one.
        var code: String?
    }

    let settings: Settings
    let clock: any WallClock
    private(set) var checks: [Check] = []

    init(settings: Settings, clock: any WallClock) {
        self.settings = settings
        self.clock = clock
    }

    mutating func note(_ name: String, _ outcome: Outcome, _ detail: String, code: String? = nil) {
        checks.append(Check(name: name, outcome: outcome, detail: detail, code: code))
    }

    mutating func run() async {
        do {
            _ = try ReferencedFiles(reading: settings)
            note("settings", .success, "valid, and the files they name can be read")
        } catch { note("settings", .failure, "\(error)") }
        checkDirectory()
        let holder = checkDaemon()
        for (name, path) in [("database", settings.databasePath), ("claims", settings.claimsPath)] {
            checkFile(name, path, isRequired: false)
            for suffix in ["-wal", "-shm"] where access(path + suffix, F_OK) == 0 {
                checkFile("\(name)\(suffix)", path + suffix, isRequired: true)
            }
        }
        if case .file(let path) = settings.masterKey.current {
            checkFile("master key", path, isRequired: access(settings.databasePath, F_OK) == 0, followsLinks: true)
        }
        await checkDatabase(isServing: holder != nil)
        checkClaims()
        checkSocket("admin socket", settings.adminSocket, isDaemonRunning: holder != nil)
        checkSocket("decryptor socket", settings.decryptorSocket, isDaemonRunning: holder != nil)
        checkSpace("disk space", settings.stateDirectory)
        if let backup = settings.backup { checkSpace("disk space for backups", backup.directory) }
        checkProcess(holder)
    }

    private mutating func checkClaims() {
        guard access(settings.claimsPath, F_OK) == 0 else { return }
        do {
            try ClaimStore.inspect(path: settings.claimsPath)
            note("claims content", .success, "intact")
        } catch {
            note(
                "claims content", .failure,
                "\(Self.detail(of: error)); tokens cannot be claimed: move the file away with its '-wal' and '-shm', then restart the daemon"
            )
        }
    }

    /// - Parameter isServing: whether a daemon has the database open, with its master key.
    private mutating func checkDatabase(isServing: Bool) async {
        guard access(settings.databasePath, F_OK) == 0 else {
            note("database content", .warning, "there is no database at \(settings.databasePath)")
            return await checkStart(nil)
        }
        let now = clock.now
        let inspection: DatabaseInspection
        do {
            inspection = try DatabaseInspection(
                of: settings.databasePath, at: now, fact: StartOperations.restoredFact)
        } catch is DatabaseInspection.Unfinished {
            return note("database content", .warning, "the first start was interrupted; the next start completes it")
        } catch {
            return note("database content", .failure, Self.detail(of: error))
        }
        check(inspection)
        await checkStart(inspection)
        checkMasterKey(inspection, isServing: isServing)
        checkCertificates(inspection)
        checkClock(inspection, now)
    }

    private mutating func check(_ inspection: DatabaseInspection) {
        if let first = inspection.faults.first {
            note("database content", .failure, "damaged (\(first)); restore a backup")
        } else {
            note(
                "database content", .success,
                "intact; \(inspection.counts.merchants) merchants, \(inspection.counts.auditRecords) audit records")
        }
        if let first = inspection.inconsistentContent.first {
            note(
                "rows and schema", .failure,
                "\(inspection.inconsistentContent.count) rows or schema objects are not as the daemon wrote them, the first: \(first); restore a backup"
            )
        } else {
            note("rows and schema", .success, "consistent with the audit")
        }
        if let first = inspection.auditBreaks.first {
            note(
                "audit chain", .failure,
                "broken in \(inspection.auditBreaks.count) places, the first: \(first.detail); keep a copy of the database as evidence"
            )
        } else {
            note("audit chain", .success, "intact, \(inspection.counts.auditRecords) records")
        }
        let (found, known) = (inspection.schemaVersion, inspection.knownSchemaVersion)
        if found > known {
            note(
                "schema", .failure,
                "version \(found), this program supports versions up to \(known); use the newer program")
        } else if found < known {
            note("schema", .warning, "version \(found); the next start migrates it to version \(known)")
        } else {
            note("schema", .success, "version \(found)")
        }
        switch inspection.coverage {
        case let coverage? where coverage.lastVerified == nil:
            note("backups", .warning, "no backup has been verified yet")
        case let coverage?:
            note(
                "backups", coverage.merchantsWithoutBackup == 0 ? .success : .warning,
                "the last verified backup was created at \(coverage.lastVerified?.rfc3339 ?? "-"); the newest keys of \(coverage.merchantsWithoutBackup) merchants are in no verified backup"
            )
        case nil: break
        }
    }

    /// Reports what the next start would find, from the same observation and decision.
    ///
    /// - Parameter inspection: nil where there is no database.
    private mutating func checkStart(_ inspection: DatabaseInspection?) async {
        let observer = StartObserver(settings: settings)
        let marks = InstanceLock.marks(settings.lockPath)
        var observation: StartObservation
        do { observation = try observer.files(marks) } catch {
            return note("restore", .failure, Self.detail(of: error))
        }
        if let inspection {
            do { observation.content = try await content(inspection, observer, marks) } catch {
                note("audit head", .failure, Self.detail(of: error))
            }
        }
        let findings = observation.findings
        for finding in findings {
            note(
                finding.code.checkName, finding.code.consequence == .warning ? .warning : .failure, finding.message,
                code: finding.code.rawValue)
        }
        func isClear(_ check: String) -> Bool { !checks.contains { $0.name == check } }
        if isClear("write-ahead log") {
            note(
                "write-ahead log", .success,
                observation.hasLogContent
                    ? "present" : marks.isOpen ? "already copied into the database" : "none, and none expected")
        }
        if let content = observation.content, isClear("audit head") { noteAuditHead(content) }
    }

    private func content(
        _ inspection: DatabaseInspection, _ observer: StartObserver, _ marks: LockMarks
    ) async throws -> StartObservation.Content {
        let end = inspection.counts.auditHead
        return try await observer.content(restoredFrom: inspection.fact, auditEnd: end, marks) { head in
            guard !DatabaseInspection.contains(head, in: settings.databasePath) else { return nil }
            return head.sequence > end?.sequence ?? 0
                ? "audit record \(head.sequence) is missing: records were removed, or an older copy of the database was put back"
                : "audit record \(head.sequence) has another hash: the audit was rewritten, or this is another database"
        }
    }

    private mutating func noteAuditHead(_ content: StartObservation.Content) {
        let end = content.auditEnd?.sequence ?? 0
        switch content.shippedHead {
        case .notConfigured:
            note(
                "audit head", .warning,
                "not shipped to a file, so removed audit records and older copies of the database are hard to detect; set 'audit.head.file'"
            )
        case .none(let file): note("audit head", .warning, "\(file) holds no audit head yet")
        case .found(_, let head, let at, difference: nil):
            note(
                "audit head", .success,
                "audit record \(head.sequence) was shipped at \(at); the last record in the database is \(end)")
        case .found(_, let head, let at, difference: .some):
            note(
                "audit head", .warning,
                "audit record \(head.sequence) was shipped at \(at); the last record in the database is \(end), because it was restored from the backup \(content.restoredFrom ?? ""), which the next start accepts"
            )
        }
    }

    private mutating func checkMasterKey(_ inspection: DatabaseInspection, isServing: Bool) {
        do {
            _ = try MasterKeys(settings.masterKey).keyring(opening: InspectedDataKeys(inspection), at: clock.now)
            let identifiers = Set(inspection.dataKeys.filter { !$0.isRetired }.map(\.masterKey.description))
            note(
                "master key fits", .success,
                identifiers.count == 1
                    ? "\(settings.masterKey.current) holds \(identifiers.first ?? ""), which opens every data key"
                    : "a rotation between the master keys \(identifiers.sorted().joined(separator: ", ")) is in progress"
            )
        } catch {
            // A systemd credential is visible to the daemon's own process only.
            let cannotCheck = isServing && settings.masterKey.current.file == nil
            note(
                "master key fits", cannotCheck ? .warning : .failure,
                cannotCheck
                    ? "the running daemon has it; it cannot be checked from here: \(Self.detail(of: error))"
                    : Self.detail(of: error))
        }
    }

    private mutating func checkCertificates(_ inspection: DatabaseInspection) {
        guard let ending = inspection.ending else {
            return note(
                "certificates", .warning,
                "not counted, because the schema is older than this program or an index is missing; start the daemon, then run 'merchantkeyctl status'"
            )
        }
        let bySeverity = ending.ended.bySeverity.merging(ending.ending.bySeverity, uniquingKeysWith: +)
        let worst = bySeverity.filter { $0.value > 0 }.keys.max()
        note(
            "certificates", worst == .critical ? .failure : worst == .warning ? .warning : .success,
            worst == nil
                ? "no certificate of an active key has expired or expires within 60 days"
                : "\(ending.ending.all) certificates of active keys expire within 60 days (\(ending.ending.current) of current keys); \(ending.ended.all) have expired (\(ending.ended.current) of current keys)"
        )
    }

    private mutating func checkClock(_ inspection: DatabaseInspection, _ now: Timestamp) {
        guard let last = inspection.lastRecordAt, last > now.adding(.seconds(60)) else {
            return note("clock", .success, now.rfc3339)
        }
        note(
            "clock", .failure, "the clock shows \(now), but the last audit record was written at \(last); set the clock"
        )
    }

    static func detail(of error: any Error) -> String { (error as? MerchantError)?.detail ?? "\(error)" }
}

extension StartFinding.Code {
    /// The check that `diagnose` reports the finding under.
    fileprivate var checkName: String {
        switch self {
        case .restoreUnfinished: "restore"
        case .databaseMissing, .databaseReplaced, .lossNotRecorded: "database history"
        case .logMissing, .logEmptied, .logFromEarlierTime, .logOfAnotherDatabase, .databaseOlderThanLog:
            "write-ahead log"
        case .databaseOlderThanShippedHead, .databaseOlderThanLockFile, .noShippedHead: "audit head"
        case .masterKeyMissing, .masterKeyRejected, .masterKeyWithoutDatabase: "master key"
        case .claimsMissing, .claimsLogMissing: "claims"
        }
    }
}
