import Glibc
import KeyCustody
import MerchantCore
import MerchantOperations
import SQLiteStore
import Vocabulary

/// The checks of claims, database content, master key, certificates and clock.
extension Diagnosis {
    mutating func checkClaims() {
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

    /// - Parameter isServing: whether a daemon runs on this database. Then it has the right master key, even if this
    ///   process cannot load it.
    mutating func checkDatabase(isServing: Bool) async {
        guard access(settings.databasePath, F_OK) == 0 else {
            note("database content", .warning, "there is no database at \(settings.databasePath)")
            return await checkNextStart(nil)
        }
        let now = clock.now
        let inspection: DatabaseInspection
        do {
            // A restore leaves this fact until the next start has recorded it. With it, the check of the next start
            // accepts that the database is older than the shipped head.
            inspection = try DatabaseInspection(
                of: settings.databasePath, at: now, fact: StartOperations.restoredFact)
        } catch is DatabaseInspection.Unfinished {
            return note("database content", .warning, "the first start was interrupted; the next start completes it")
        } catch {
            return note("database content", .failure, Self.detail(of: error))
        }
        check(inspection)
        await checkNextStart(inspection)
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
        // Nil if the records of backups cannot be read, for example in an older schema. Then nothing is reported.
        if let backups = inspection.coverage { check(backups) }
    }

    private mutating func check(_ backups: BackupCoverage) {
        guard let lastVerified = backups.lastVerified else {
            return note("backups", .warning, "no backup has been verified yet")
        }
        note(
            "backups", backups.merchantsWithoutBackup == 0 ? .success : .warning,
            "the last verified backup was created at \(lastVerified.rfc3339); the newest keys of \(backups.merchantsWithoutBackup) merchants are in no verified backup"
        )
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
            // Only the daemon's own process can read a systemd credential.
            let cannotCheck = isServing && settings.masterKey.current.file == nil
            note(
                "master key fits", cannotCheck ? .warning : .failure,
                cannotCheck
                    ? "the running daemon has it; it cannot be checked from here: \(Self.detail(of: error))"
                    : Self.detail(of: error))
        }
    }

    private mutating func checkCertificates(_ inspection: DatabaseInspection) {
        guard let certificates = inspection.ending else {
            return note(
                "certificates", .warning,
                "not counted, because the schema is older than this program or an index is missing; start the daemon, then run 'merchantkeyctl status'"
            )
        }
        let (expired, expiring) = (certificates.ended, certificates.ending)
        let bySeverity = expired.bySeverity.merging(expiring.bySeverity, uniquingKeysWith: +)
        let worst = bySeverity.filter { $0.value > 0 }.keys.max()
        note(
            "certificates", worst == .critical ? .failure : worst == .warning ? .warning : .success,
            worst == nil
                ? "no certificate of an active key has expired or expires within 60 days"
                : "\(expiring.all) certificates of active keys expire within 60 days (\(expiring.current) of current keys); \(expired.all) have expired (\(expired.current) of current keys)"
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
}
