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
                "the daemon cannot record which payment tokens were used: \(Self.detail(of: error))"
            )
        }
    }

    /// - Parameter isServing: whether a daemon runs on this database. Such a daemon has loaded the right master key,
    ///   even if this process cannot load the key.
    mutating func checkDatabase(isServing: Bool) async {
        guard access(settings.databasePath, F_OK) == 0 else {
            note("database content", .warning, "there is no database at \(settings.databasePath)")
            return await checkNextStart(nil)
        }
        let now = clock.now
        let inspection: DatabaseInspection
        do {
            // A restore stores a description of itself in the database. If there is such a description, the next start
            // accepts that the database lacks the audit record of the last head in `audit.head.file`.
            inspection = try DatabaseInspection(
                of: settings.databasePath, at: now, restoreValueName: StartOperations.restoreValueName)
        } catch is DatabaseInspection.SetupUnfinished {
            return note("database content", .warning, "the first start was interrupted; the next start completes it")
        } catch {
            return note("database content", .failure, Self.detail(of: error))
        }
        checkContent(inspection)
        await checkNextStart(inspection)
        checkMasterKey(inspection, isServing: isServing)
        checkCertificates(inspection)
        checkClock(inspection, now)
    }

    private mutating func checkContent(_ inspection: DatabaseInspection) {
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
                "\(inspection.inconsistentContent.count) rows or schema objects are not as the daemon wrote them, the first: \(first); find out which program could write to the file, then restore a backup"
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
        let (version, known) = (inspection.schemaVersion, inspection.knownSchemaVersion)
        if version > known {
            note(
                "schema", .failure,
                "version \(version), but this program supports only versions up to \(known); use a newer program")
        } else if version < known {
            note("schema", .warning, "version \(version); the next start migrates it to version \(known)")
        } else {
            note("schema", .success, "version \(version)")
        }
        // Nothing is reported if the records of backups cannot be read, for example in an older schema.
        if let backups = inspection.backups { checkBackups(backups) }
    }

    private mutating func checkBackups(_ backups: BackupCoverage) {
        if let finding = backups.finding(by: settings.backupPolicy, at: clock.now) {
            return note("backups", finding.severity == .critical ? .failure : .warning, finding.detail)
        }
        guard let lastVerified = backups.lastVerified else {
            return note("backups", .warning, "no backup has been verified yet")
        }
        note(
            "backups", backups.merchantsAwaitingBackup == 0 ? .success : .warning,
            "the last verified backup was created at \(lastVerified.rfc3339); the newest keys of \(backups.merchantsAwaitingBackup) merchants are in no verified backup"
        )
    }

    private mutating func checkMasterKey(_ inspection: DatabaseInspection, isServing: Bool) {
        do {
            _ = try MasterKeys(settings.masterKey).keyring(opening: InspectedDataKeys(inspection), at: clock.now)
            let identifiers = Set(inspection.dataKeys.filter { !$0.isRetired }.map(\.masterKeyIdentifier.description))
            note(
                "master key fits", .success,
                identifiers.count == 1
                    ? "\(settings.masterKey.current) holds \(identifiers.first ?? ""), which opens every data key"
                    : "a rotation between the master keys \(identifiers.sorted().joined(separator: ", ")) is in progress"
            )
        } catch {
            // A source other than a file, such as a systemd credential, may be readable only for the daemon's process.
            // So this failure does not show that the running daemon lacks the key.
            let isInconclusive = isServing && settings.masterKey.current.file == nil
            note(
                "master key fits", isInconclusive ? .warning : .failure,
                isInconclusive
                    ? "the running daemon has the key, but this command cannot load it: \(Self.detail(of: error))"
                    : Self.detail(of: error))
        }
    }

    private mutating func checkCertificates(_ inspection: DatabaseInspection) {
        guard let certificates = inspection.expiryCounts else {
            return note(
                "certificates", .warning,
                "not counted, because the database's schema is older than this program or lacks an index; start the daemon, then run 'merchantkeyctl status'"
            )
        }
        let (expired, expiring) = (certificates.expired, certificates.expiring)
        let bySeverity = expired.bySeverity.merging(expiring.bySeverity, uniquingKeysWith: +)
        let worst = bySeverity.filter { $0.value > 0 }.keys.max()
        note(
            "certificates", worst == .critical ? .failure : worst == .warning ? .warning : .success,
            worst == nil
                ? "no certificate of an active key has expired or expires within 60 days"
                : "\(expiring.total) certificates of active keys expire within 60 days (\(expiring.current) of current keys); \(expired.total) have expired (\(expired.current) of current keys)"
        )
    }

    private mutating func checkClock(_ inspection: DatabaseInspection, _ now: Timestamp) {
        guard let last = inspection.lastAuditRecordAt, last > now.adding(.seconds(60)) else {
            return note("clock", .success, now.rfc3339)
        }
        note(
            "clock", .failure, "the clock shows \(now), but the last audit record was written at \(last); set the clock"
        )
    }
}
