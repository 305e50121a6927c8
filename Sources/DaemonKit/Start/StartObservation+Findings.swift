import MerchantCore
import SQLiteStore
import Vocabulary

extension StartObservation {
    /// What is wrong; with SQLite, most severe first. If a restore was interrupted, contains only this finding.
    package var findings: [StartFinding] {
        if let server { return findings(on: server) }
        if isRestoreUnfinished {
            return [
                StartFinding(
                    .restoreUnfinished, "a restore into this state directory was interrupted",
                    why: "the database \(databasePath) may be incomplete",
                    remedy: "run 'merchantkeyctl backup restore' again")
            ]
        }
        let losses = losses
        // The comparison with the lock file is weaker evidence, so its result is reported only if no other loss was
        // found.
        return [logThatDoesNotBelong, masterKeyFinding].compactMap(\.self) + losses
            + (losses.isEmpty ? [lossShownByLockFile].compactMap(\.self) : []) + warnings
    }
}

// MARK: - A write-ahead log that does not belong to the database

extension StartObservation {
    /// SQLite applies any log that it finds beside a database, so a log of another database would destroy this
    /// database. If the database file is empty, SQLite deletes the log and with it the last acknowledged changes. So
    /// the daemon refuses to start, and no flag overrides that.
    private var logThatDoesNotBelong: StartFinding? {
        guard hasLogContent else { return nil }
        if hasDatabaseContent, lockFile.wasClosedWithoutLog {
            // If another program opened the database after a clean shutdown and still uses it, the log belongs to that
            // program. The log is no problem if the database contains the last audit record.
            return isDatabaseInUse && lockFile.head != nil && databaseHoldsRecord ? nil : logFromEarlierTimeFinding
        }
        if !hasDatabaseContent || isDatabaseReplaced { return logOfAnotherDatabaseFinding }
        guard lockFile.expectsLog, let record = recordExpectedInFile, fileLacksRecord else { return nil }
        return StartFinding(
            .databaseOlderThanLog, "the database \(databasePath) is older than its write-ahead log \(logPath)",
            why:
                "audit record \(record.sequence) is missing from the database file, which contained it before SQLite started this log",
            remedy: Self.remedyForLog)
    }

    private static let remedyForLog =
        "put back the database file that belongs to the log, or restore a backup; only if that file is lost, move the log away and start with --accept-older-database"

    private var logFromEarlierTimeFinding: StartFinding {
        StartFinding(
            .logFromEarlierTime,
            "the write-ahead log \(logPath) was put beside the database \(databasePath) after the last clean shutdown",
            why:
                "the daemon left no log, but this one has \((log?.size ?? 0).counted("byte")); SQLite would apply the log and so destroy the database",
            remedy:
                "move the log away; only if the database and the log were copied here together from a running daemon, keep the log and remove \(lockPath)"
        )
    }

    private var logOfAnotherDatabaseFinding: StartFinding {
        let found = database.map { $0.hasContent ? "inode \($0.inode)" : "an empty file" } ?? "no file"
        let expected =
            lockFile.inodeIfReplaced.map { "inode \($0) ('ls -i' prints it)" }
            ?? "a database file with content"
        let remedyIfCopied =
            lockFile.inodeIfReplaced == nil
            ? "" : "; if you copied the database and the log back here together, remove \(lockPath)"
        return StartFinding(
            .logOfAnotherDatabase,
            "the write-ahead log \(logPath) belongs to another database file than \(databasePath)",
            why:
                "the path names \(found), but the log belongs to \(expected); the log contains the last acknowledged changes",
            remedy: Self.remedyForLog + remedyIfCopied)
    }
}

// MARK: - Master key and warnings

extension StartObservation {
    var masterKeyFinding: StartFinding? {
        switch masterKey {
        case .file(_, exists: false): missingMasterKeyFinding
        case .rejected(let why):
            StartFinding(
                .masterKeyRejected, "the master key does not open the database \(databasePath)", why: why,
                remedy: "put the right master key where the settings under 'master-key' expect it")
        case .supplied, .file: nil
        }
    }

    /// Nil also before the first start, when there is no database either.
    var missingMasterKeyFinding: StartFinding? {
        guard case .file(let path, exists: false) = masterKey, server?.hasContent ?? (database != nil) else {
            return nil
        }
        return StartFinding(
            .masterKeyMissing, "the master key of the database \(databasePath) is missing",
            why: "there is no file \(path)",
            remedy: isDaemonRunning
                ? "correct 'master-key.file' if it names the wrong path, or put the file back from your copy, before the daemon stops; if you have no copy, run 'merchantkeyctl master-key rotate' before the daemon stops, which writes a new key to the file"
                : "correct 'master-key.file' if it names the wrong path, or put the file back from your copy")
    }

    private var warnings: [StartFinding] {
        [masterKeyWithoutDatabaseFinding, missingClaimsFinding, noShippedHeadFinding, environmentFinding]
            .compactMap(\.self)
    }

    /// The finding is only a warning, because an interrupted first start leaves the same files.
    private var masterKeyWithoutDatabaseFinding: StartFinding? {
        guard case .file(let path, exists: true) = masterKey, database == nil, missingDatabaseFinding == nil else {
            return nil
        }
        return StartFinding(
            .masterKeyWithoutDatabase, "there is a master key \(path) but no database \(databasePath)",
            why: "the daemon creates an empty database",
            remedy: "if this is not the first start, stop the daemon and restore the database")
    }

    private var missingClaimsFinding: StartFinding? {
        guard hasDatabaseContent else { return nil }
        if !hasClaims {
            let what = "the claims file \(claimsPath) is \(claims == nil ? "missing" : "empty")"
            guard (claimsLog?.size ?? 0) > 0 else {
                return StartFinding(
                    .claimsMissing, what, why: "the daemon begins with an empty one", remedy: Self.remedyForClaims)
            }
            return StartFinding(
                .claimsMissing, what, why: "its write-ahead log has content, so the daemon refuses claims",
                remedy:
                    "stop the daemon and put back the file that belongs to the log; only if that file is lost, move the log away: \(Self.remedyForClaims)"
            )
        }
        if lockFile.expectsClaimsLog, !hasClaimsLog { return missingClaimsLogFinding }
        return lacksNewestClaim ? lockFile.newestClaim.map(olderClaimsFinding) : nil
    }

    func olderClaimsFinding(_ missing: ClaimMark) -> StartFinding {
        StartFinding(
            .claimsOlder, "the claims file \(claimsPath) lacks the newest claims",
            why:
                "it lacks claim \(missing.id), which the last daemon recorded: an older copy was put back, or its write-ahead log was emptied",
            remedy:
                "stop the daemon and put the newer file back with its '-wal' file; if it is lost, \(Self.remedyForClaims)"
        )
    }

    var missingClaimsLogFinding: StartFinding {
        StartFinding(
            .claimsLogMissing, "the write-ahead log of the claims file \(claimsPath) is missing",
            why: "the last daemon was killed before it closed this file", remedy: Self.remedyForClaims)
    }

    private static let remedyForClaims =
        "payment tokens of the last ten minutes can be used again: compare the transactionIds of payments with your own records"

    /// The finding is only a warning, because a platform may begin in Apple's sandbox and then go to production.
    var environmentFinding: StartFinding? {
        environmentChange.map { change in
            StartFinding(
                .environmentChanged,
                "the database \(databasePath) was used with the setting environment '\(change.before.rawValue)', and is now used with '\(change.now.rawValue)'",
                why: change.now == .sandbox
                    ? "the daemon now accepts test tokens of Apple's sandbox for the merchants in this database"
                    : "the daemon now refuses test tokens of Apple's sandbox",
                remedy:
                    "if this is not intended, correct the setting 'environment' or 'state-directory', and restart the daemon"
            )
        }
    }

    var noShippedHeadFinding: StartFinding? {
        guard let auditComparison, auditComparison.restoredFrom == nil, auditComparison.headInDatabase != nil,
            case .none(let file) = auditComparison.shippedHead
        else { return nil }
        return StartFinding(
            .noShippedHead, "the file \(file) holds no audit head",
            why: "this start cannot detect an older copy of the database",
            remedy: "if the file held heads before, find out what happened to it and check 'audit.head.file'")
    }
}
