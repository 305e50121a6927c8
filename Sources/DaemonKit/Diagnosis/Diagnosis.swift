import Glibc
import KeyCustody
import MerchantCore
import MerchantOperations
import SQLiteStore
import Vocabulary

/// Looks at everything the daemon stands on, whether it runs or not, and changes nothing.
struct Diagnosis {
    enum Outcome: String, Encodable { case success, warning, failure }

    struct Check: Encodable {
        let name: String
        let outcome: Outcome
        let detail: String
    }

    let settings: Settings
    let clock: any WallClock
    private(set) var checks: [Check] = []

    init(settings: Settings, clock: any WallClock) {
        self.settings = settings
        self.clock = clock
    }

    mutating func note(_ name: String, _ outcome: Outcome, _ detail: String) {
        checks.append(Check(name: name, outcome: outcome, detail: detail))
    }

    mutating func run() async {
        do {
            try Daemon.judgeFiles(settings)
            note("settings", .success, "read, with the files they name")
        } catch { note("settings", .failure, "\(error)") }
        judgeDirectory()
        let holder = judgeDaemon()
        for (name, path) in [("database", settings.databasePath), ("claims", settings.claimsPath)] {
            judgeFile(name, path, isNeeded: false)
            for suffix in ["-wal", "-shm"] where access(path + suffix, F_OK) == 0 {
                judgeFile("\(name)\(suffix)", path + suffix, isNeeded: true)
            }
        }
        if case .file(let path) = settings.masterKey.current {
            judgeFile("master key", path, isNeeded: access(settings.databasePath, F_OK) == 0, followsLinks: true)
        }
        await judgeDatabase(isServing: holder != nil)
        judgeClaims()
        judgeSocket("admin socket", settings.adminSocket, isDaemonThere: holder != nil)
        judgeSocket("decryptor socket", settings.decryptorSocket, isDaemonThere: holder != nil)
        judgeRoom("disk space", settings.stateDirectory)
        if let backup = settings.backup { judgeRoom("disk space for backups", backup.directory) }
        judgeProcess(holder)
    }

    private mutating func judgeClaims() {
        guard access(settings.claimsPath, F_OK) == 0 else { return }
        do {
            try ClaimStore.inspect(path: settings.claimsPath)
            note("claims content", .success, "sound")
        } catch {
            note(
                "claims content", .failure,
                "\(Self.words(error)): tokens cannot be claimed, move the file away with its '-wal' and '-shm' and restart"
            )
        }
    }

    /// - Parameter isServing: whether a daemon has the database open, with its master key.
    private mutating func judgeDatabase(isServing: Bool) async {
        guard access(settings.databasePath, F_OK) == 0 else {
            note("database content", .warning, "there is no database at \(settings.databasePath)")
            return judgeLog()
        }
        let now = clock.now
        let inspection: DatabaseInspection
        do {
            inspection = try DatabaseInspection(
                of: settings.databasePath, at: now, fact: StartOperations.restoredFact)
        } catch is DatabaseInspection.Unfinished {
            return note("database content", .warning, "a first start was cut short; the next one goes on")
        } catch {
            return note("database content", .failure, "\(Self.words(error))")
        }
        judge(inspection)
        judgeLog()
        judgeMasterKey(inspection, isServing: isServing)
        judgeCertificates(inspection)
        judgeHead(inspection)
        judgeClock(inspection, now)
    }

    private mutating func judge(_ inspection: DatabaseInspection) {
        if let first = inspection.faults.first {
            note("database content", .failure, "damaged (\(first)): restore a backup")
        } else {
            note(
                "database content", .success,
                "sound; \(inspection.counts.merchants) merchants, \(inspection.counts.auditRecords) audit records")
        }
        if let first = inspection.inconsistentContent.first {
            note(
                "rows and schema", .failure,
                "\(inspection.inconsistentContent.count) are not what the daemon wrote, the first: \(first): restore a backup"
            )
        } else {
            note("rows and schema", .success, "as the daemon and its audit say")
        }
        if let first = inspection.auditBreaks.first {
            note(
                "audit chain", .failure,
                "it does not hold in \(inspection.auditBreaks.count) places, the first: \(first.detail); keep a copy before anything else"
            )
        } else {
            note("audit chain", .success, "whole, \(inspection.counts.auditRecords) records")
        }
        let (found, known) = (inspection.schemaVersion, inspection.knownSchemaVersion)
        if found > known {
            note("schema", .failure, "version \(found), this program knows \(known) at most: start the newer program")
        } else if found < known {
            note("schema", .warning, "version \(found); the next start brings it to \(known)")
        } else {
            note("schema", .success, "version \(found)")
        }
        switch inspection.coverage {
        case let coverage? where coverage.lastVerified == nil:
            note("backups", .warning, "no backup was ever verified")
        case let coverage?:
            note(
                "backups", coverage.merchantsWithoutBackup == 0 ? .success : .warning,
                "last verified of \(coverage.lastVerified?.rfc3339 ?? "-"); \(coverage.merchantsWithoutBackup) merchants' newest keys are in none"
            )
        case nil: break
        }
    }

    private mutating func judgeLog() {
        let marks = InstanceLock.marks(settings.lockPath)
        if let strange = DatabaseHistory.unexpectedLog(settings, marks) {
            return note("write-ahead log", .failure, strange)
        }
        let losses = DatabaseHistory.losses(settings, marks)
        guard losses.isEmpty else { return note("write-ahead log", .failure, DatabaseHistory.refusal(losses)) }
        let detail =
            DatabaseHistory.hasLog(settings) ? "there" : marks.isOpen ? "carried over into the database" : "none needed"
        note("write-ahead log", .success, detail)
    }

    private mutating func judgeMasterKey(_ inspection: DatabaseInspection, isServing: Bool) {
        do {
            _ = try MasterKeys(settings.masterKey).keyring(opening: InspectedDataKeys(inspection), at: clock.now)
            let identifiers = Set(inspection.dataKeys.filter { !$0.isRetired }.map(\.masterKey.description))
            note(
                "master key fits", .success,
                identifiers.count == 1
                    ? "\(settings.masterKey.current), \(identifiers.first ?? ""), opens every data key"
                    : "a rotation is under way from one master key to another: \(identifiers.sorted().joined(separator: ", "))"
            )
        } catch {
            // A credential is there for the daemon's own process only.
            let isOutOfReach = isServing && settings.masterKey.current.file == nil
            note(
                "master key fits", isOutOfReach ? .warning : .failure,
                isOutOfReach
                    ? "the daemon serves, so it does; not to be judged from here: \(Self.words(error))"
                    : Self.words(error))
        }
    }

    private mutating func judgeCertificates(_ inspection: DatabaseInspection) {
        guard let ending = inspection.ending else {
            return note(
                "certificates", .warning,
                "not counted: the schema is older than this program, or an index is missing; start the daemon, then see 'status'"
            )
        }
        let bySeverity = ending.ended.bySeverity.merging(ending.ending.bySeverity, uniquingKeysWith: +)
        let worst = bySeverity.filter { $0.value > 0 }.keys.max()
        note(
            "certificates", worst == .critical ? .failure : worst == .warning ? .warning : .success,
            worst == nil
                ? "none of an active key has ended or ends within 60 days"
                : "\(ending.ending.all) of active keys end within 60 days (\(ending.ending.current) of current keys), \(ending.ended.all) have ended (\(ending.ended.current) of current keys)"
        )
    }

    private mutating func judgeHead(_ inspection: DatabaseInspection) {
        guard let path = settings.auditHead.file else {
            let marks = InstanceLock.marks(settings.lockPath)
            if let kept = marks.head?.end, !DatabaseInspection.contains(kept, in: settings.databasePath),
                inspection.fact == nil
            {
                return note(
                    "audit head", .failure,
                    "record \(kept.sequence), which the last daemon here ended with, is not in the database: records were cut off, or an older copy was put back; the next start takes it and says so"
                )
            }
            return note("audit head", .warning, "it is not shipped to a file: a cut or an older copy hardly shows")
        }
        do {
            guard let last = try HeadFile(path: path).last() else {
                return note("audit head", .warning, "\(path) holds none yet")
            }
            let end = inspection.counts.auditHead?.sequence ?? 0
            if last.head.sequence > end, let restored = inspection.fact {
                return note(
                    "audit head", .warning,
                    "record \(last.head.sequence) was shipped at \(last.at), the database ends with \(end): it is the backup \(restored), which the next start takes"
                )
            }
            note(
                "audit head", last.head.sequence <= end ? .success : .failure,
                "record \(last.head.sequence) was shipped at \(last.at), the database ends with \(end)")
        } catch { note("audit head", .failure, Self.words(error)) }
    }

    private mutating func judgeClock(_ inspection: DatabaseInspection, _ now: Timestamp) {
        guard let last = inspection.lastRecordAt, last > now.adding(.seconds(60)) else {
            return note("clock", .success, now.rfc3339)
        }
        note("clock", .failure, "it says \(now), the last audit record is of \(last): set the clock")
    }

    static func words(_ error: any Error) -> String { (error as? MerchantError)?.detail ?? "\(error)" }
}
