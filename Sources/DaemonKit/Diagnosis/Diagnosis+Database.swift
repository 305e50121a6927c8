import Glibc
import KeyCustody
import MerchantCore
import MerchantOperations
import SQLiteStore
import Vocabulary

/// The checks of claims, database content, master key, certificates and clock.
extension Diagnosis {
    mutating func checkClaims() {
        do {
            try ClaimsFile.inspect(settings, wholeContent: true)
            if FileStatus(of: settings.claimsPath) != nil { note("claims content", .success, "intact") }
        } catch {
            note(
                "claims content", .failure,
                ClaimsFile.warning(Self.detail(of: error))
            )
        }
    }

    mutating func checkDatabase() async {
        guard access(settings.databasePath, F_OK) == 0 else {
            note("database content", .warning, "there is no database at \(settings.databasePath)")
            return await checkHistory(.missing)
        }
        let now = clock.now
        let inspection: DatabaseInspection
        do { inspection = try DatabaseInspection(of: settings.databasePath, at: now) } catch is DatabaseInspection
            .SetupUnfinished
        {
            note("database content", .warning, "empty, as after an interrupted first start")
            return await checkHistory(.missing)
        } catch {
            note("database content", .failure, Self.detail(of: error))
            return await checkHistory(.unreadable)
        }
        checkContent(inspection)
        do {
            await checkHistory(
                .found(try DatabaseInspection.read(from: settings.databasePath) { try StartContent($0, dataKeys: $1) }))
        } catch {
            note("database content", .failure, Self.detail(of: error))
            await checkHistory(.unreadable)
        }
        checkMasterKey(inspection)
        checkCertificates(inspection)
        checkClock(inspection, now)
    }

    private mutating func checkContent(_ inspection: DatabaseInspection) {
        if let first = inspection.faults.first {
            note("database content", .failure, "damaged (\(first.replacing("\n", with: " "))); restore a backup")
        } else {
            note(
                "database content", .success,
                "intact; \(inspection.counts.merchants.counted("merchant")), \(inspection.counts.auditRecords.counted("audit record"))"
            )
        }
        if let first = inspection.inconsistentContent.first {
            note(
                "rows and schema", .failure,
                "\(inspection.inconsistentContent.count.counted("row or schema object is", "rows or schema objects are")) not as the daemon wrote them, the first: \(first); find out which program could write to the file, then restore a backup"
            )
        } else {
            note("rows and schema", .success, "consistent with the audit")
        }
        if let first = inspection.auditBreaks.first {
            note(
                "audit chain", .failure,
                "broken in \(inspection.auditBreaks.count.counted("place")), the first: \(first.detail); keep a copy of the database as evidence"
            )
        } else {
            note("audit chain", .success, "intact, \(inspection.counts.auditRecords.counted("record"))")
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
        guard let newestVerifiedCreatedAt = backups.newestVerifiedCreatedAt else {
            return note(
                "backups", .warning,
                backups.verifiedInFuture.map {
                    "the last verified backup has a time in the future, \($0), so its age is unknown; if the clock is right, create a backup"
                } ?? "no backup has been verified yet")
        }
        note(
            "backups", backups.merchantsAwaitingBackup == 0 ? .success : .warning,
            backups.merchantsAwaitingBackup == 0
                ? "the last verified backup was created at \(newestVerifiedCreatedAt.rfc3339); the newest keys of all merchants are in verified backups"
                : "the last verified backup was created at \(newestVerifiedCreatedAt.rfc3339); the newest keys of \(backups.merchantsAwaitingBackup.counted("merchant")) are in no verified backup"
        )
    }

    private mutating func checkMasterKey(_ inspection: DatabaseInspection) {
        let current = settings.masterKey.current
        do {
            _ = try MasterKeys(settings.masterKey).keyring(
                opening: InspectedDataKeys(inspection.dataKeys), at: clock.now)
            let identifiers = Set(inspection.dataKeys.filter { !$0.isRetired }.map(\.masterKeyIdentifier.description))
            note(
                Self.masterKeyCheck, .success,
                identifiers.count == 1
                    ? "the master key \(identifiers.first ?? "") (\(current)) decrypts every data key"
                    : "a rotation between the master keys \(identifiers.sorted().joined(separator: ", ")) is in progress"
            )
        } catch {
            // A source other than a file, such as a systemd credential, may be readable only by the daemon's process.
            // So this failure does not show that a daemon cannot load the key.
            let isInUse =
                current.file == nil
                && InstanceLock.masterKeySource(inDirectory: settings.stateDirectory) == current.description
            let reasonUnreadableHere = [current, settings.masterKey.previous].compactMap { $0?.reasonUnreadableHere }
                .first
            if isInUse, current.reasonUnreadableHere != nil {
                note(Self.masterKeyCheck, .success, "the running daemon opened the database with the \(current)")
            } else if isInUse {
                note(
                    Self.masterKeyCheck, .warning,
                    "the running daemon opened the database with the \(current), but this command cannot load the key: \(Self.detail(of: error))"
                )
            } else if let reasonUnreadableHere {
                note(Self.masterKeyCheck, .warning, reasonUnreadableHere)
            } else {
                note(Self.masterKeyCheck, .failure, Self.detail(of: error))
            }
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
                : "certificates of active keys: \(expiring.total.counted("expires", "expire")) within 60 days (\(expiring.current) of current keys), \(expired.total.counted("has", "have")) expired (\(expired.current) of current keys)"
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
