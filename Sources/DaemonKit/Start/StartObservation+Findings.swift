import MerchantCore

extension StartObservation {
    /// Everything that is wrong, most severe first.
    package var findings: [StartFinding] {
        if isRestoreUnfinished {
            return [
                StartFinding(
                    .restoreUnfinished, "a restore into this state directory was interrupted",
                    why: "the database \(databasePath) may be incomplete",
                    remedy: "run 'merchantkeyctl backup restore' again")
            ]
        }
        let losses = losses
        return [foreignLog, masterKeyFault].compactMap(\.self) + losses
            + (losses.isEmpty ? [lossByLockFile].compactMap(\.self) : []) + warnings
    }
}

// MARK: - A write-ahead log that does not belong to the database

extension StartObservation {
    /// SQLite applies any log that it finds beside a database, so a log of another database would destroy this one. If
    /// the database is empty, SQLite deletes the log and with it the last acknowledged changes. So the daemon refuses
    /// to start, and no flag overrides that.
    private var foreignLog: StartFinding? {
        guard hasLogContent else { return nil }
        if hasDatabaseContent, marks.isClosed {
            // No fault if another program has this database open now: the log is then the log of that program.
            return isDatabaseInUse && marks.head != nil && databaseHoldsRecord ? nil : logFromEarlierTime
        }
        if !hasDatabaseContent || isReplaced { return logOfAnotherDatabase }
        guard marks.isOpen, let record = recordBeneathLog, fileLacksRecord else { return nil }
        return StartFinding(
            .databaseOlderThanLog, "the database \(databasePath) is older than its write-ahead log \(logPath)",
            why:
                "audit record \(record.sequence) is missing from the database, and was in it before the log was started",
            remedy: Self.remedyForLog)
    }

    private static let remedyForLog =
        "put back the database file that belongs to the log, or restore a backup; only if that file is lost, move the log away and start with --accept-older-database"

    private var logFromEarlierTime: StartFinding {
        StartFinding(
            .logFromEarlierTime,
            "the write-ahead log \(logPath) was put beside the database \(databasePath) after the last clean shutdown",
            why: "found \(log?.size ?? 0) bytes, expected no log; it would destroy the database",
            remedy:
                "move the log away; only if database and log were copied here together from a running daemon, remove \(lockPath) instead"
        )
    }

    private var logOfAnotherDatabase: StartFinding {
        let found = database.map { $0.size > 0 ? "inode \($0.inode)" : "an empty file" } ?? "no file"
        let expected =
            marks.replacedInode.map { "inode \($0) ('ls -i' prints it)" } ?? "the file that the log was written for"
        let copied =
            marks.replacedInode == nil ? "" : "; if database and log were copied back here together, remove \(lockPath)"
        return StartFinding(
            .logOfAnotherDatabase,
            "the write-ahead log \(logPath) belongs to another database file than \(databasePath)",
            why: "found \(found), expected \(expected); the log holds the last acknowledged changes",
            remedy: Self.remedyForLog + copied)
    }
}

// MARK: - Master key and warnings

extension StartObservation {
    private var masterKeyFault: StartFinding? {
        switch masterKey {
        case .file(let path, exists: false) where database != nil:
            StartFinding(
                .masterKeyMissing, "the master key of the database \(databasePath) is missing",
                why: "expected the file \(path)", remedy: "put it back from where it was saved")
        case .rejected(let why):
            StartFinding(
                .masterKeyRejected, "the master key does not open the database \(databasePath)", why: why,
                remedy: "put the right master key in its place")
        case .supplied, .file: nil
        }
    }

    private var warnings: [StartFinding] {
        [masterKeyWithoutDatabase, missingClaims, missingShippedHead].compactMap(\.self)
    }

    /// Only a warning, because an interrupted first start leaves the same files.
    private var masterKeyWithoutDatabase: StartFinding? {
        guard case .file(let path, exists: true) = masterKey, database == nil, missingDatabase == nil else {
            return nil
        }
        return StartFinding(
            .masterKeyWithoutDatabase, "there is a master key \(path) but no database \(databasePath)",
            why: "the daemon creates an empty database",
            remedy: "if this is not the first start, stop the daemon and restore the database")
    }

    private var missingClaims: StartFinding? {
        guard hasDatabaseContent else { return nil }
        let remedy =
            "compare the transactionIds of payments in the last ten minutes with your own records: their tokens can be claimed again"
        if !hasClaims {
            return StartFinding(
                .claimsMissing, "the claims file \(claimsPath) is missing", why: "the daemon creates an empty one",
                remedy: remedy)
        }
        guard marks.isOpen, marks.head?.wasWrittenAtShutdown != true, !hasClaimsLog else { return nil }
        return StartFinding(
            .claimsLogMissing, "the write-ahead log of the claims file \(claimsPath) is missing",
            why: "the last daemon was not shut down cleanly", remedy: remedy)
    }

    private var missingShippedHead: StartFinding? {
        guard let content, content.restoredFrom == nil, content.auditEnd != nil,
            case .none(let file) = content.shippedHead
        else { return nil }
        return StartFinding(
            .noShippedHead, "the file \(file) holds no audit head",
            why: "this start cannot detect an older copy of the database",
            remedy: "check 'audit.head.file' if heads were shipped before")
    }
}
