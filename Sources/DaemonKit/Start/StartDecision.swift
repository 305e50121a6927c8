import MerchantCore

/// Whether the daemon may start. A pure function of what was observed.
///
/// A start decides twice: before it opens the database, and again when ``StartObservation/content`` is known.
package enum StartDecision: Equatable, Sendable {
    /// - Parameters:
    ///   - losses: what is missing from the database, for the audit.
    ///   - warnings: for the log.
    case open(losses: [StartFinding], warnings: [StartFinding])
    case refuse([StartFinding])

    package init(on observation: StartObservation, acceptsOlderDatabase: Bool) {
        let findings = observation.findings
        func with(_ consequence: StartFinding.Consequence) -> [StartFinding] {
            findings.filter { $0.code.consequence == consequence }
        }
        let refusals = with(.refusal)
        let losses = with(.refusalUnlessAccepted)
        if !refusals.isEmpty {
            self = .refuse(refusals)
        } else if !losses.isEmpty, !acceptsOlderDatabase {
            self = .refuse(losses)
        } else {
            self = .open(losses: losses + with(.recordedLoss), warnings: with(.warning))
        }
    }

    /// - Throws: ``StartRefusal``.
    func orRefusal() throws(StartRefusal) -> (losses: [StartFinding], warnings: [StartFinding]) {
        switch self {
        case .open(let losses, let warnings): (losses, warnings)
        case .refuse(let findings): throw StartRefusal(findings: findings)
        }
    }
}

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
    /// SQLite applies any log that lies beside a database. The log of another file destroys the database; beside a new database,
    /// SQLite deletes the log and the last acknowledged changes with it. No flag accepts that.
    private var foreignLog: StartFinding? {
        guard hasLogContent else { return nil }
        if hasDatabaseContent, marks.isClosed {
            // The log may also be that of a program that has the same database open right now.
            return isDatabaseInUse && marks.head != nil && auditAnswer == true ? nil : logFromEarlierTime
        }
        if !hasDatabaseContent || isReplaced { return logOfAnotherDatabase }
        guard marks.isOpen, let record = recordBeneathLog, auditAnswer == true else { return nil }
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
            marks.replaced.map { "inode \($0) ('ls -i' prints it)" } ?? "the file that the log was written for"
        let copied =
            marks.replaced == nil ? "" : "; if database and log were copied back here together, remove \(lockPath)"
        return StartFinding(
            .logOfAnotherDatabase,
            "the write-ahead log \(logPath) belongs to another database file than \(databasePath)",
            why: "found \(found), expected \(expected); the log holds the last acknowledged changes",
            remedy: Self.remedyForLog + copied)
    }
}

// MARK: - A database that lacks acknowledged changes

extension StartObservation {
    private var losses: [StartFinding] {
        let files = marks.unrecordedLosses.isEmpty ? [lossInFiles].compactMap(\.self) : unrecordedLosses
        return files + [lossByShippedHead].compactMap(\.self)
    }

    private var unrecordedLosses: [StartFinding] {
        marks.unrecordedLosses.map {
            StartFinding(
                .lossNotRecorded, $0,
                remedy: "restore a backup; an earlier start accepted this loss, but stopped before it was in the audit")
        }
    }

    private var lossInFiles: StartFinding? {
        guard hasDatabaseContent else { return missingDatabase }
        if let expected = marks.replaced, let found = database?.inode, isReplaced {
            return StartFinding(
                .databaseReplaced, "the database \(databasePath) was moved or replaced while a daemon used it",
                why: "found inode \(found), expected \(expected)",
                remedy: "put back the original file with its '-wal' file, or restore a backup")
        }
        guard marks.isOpen, !hasLogContent else { return nil }
        return log == nil ? missingLog : emptiedLog
    }

    private var missingDatabase: StartFinding? {
        let traces = [
            marks.isOpen || marks.replaced != nil ? "its mark in the lock file" : nil,
            hasLogContent ? "its write-ahead log" : nil, hasClaims ? "the claims file" : nil,
        ].compactMap(\.self)
        guard !traces.isEmpty else { return nil }
        return StartFinding(
            .databaseMissing, "the database \(databasePath) is missing or empty",
            why: "a daemon used it here before: found \(traces.joined(separator: " and "))",
            remedy: "check that the volume is mounted, put back the file with its '-wal' file, or restore a backup")
    }

    /// Another program, such as `sqlite3`, that opens the database after a kill copies the log into the database and removes it, and
    /// the shared memory before it. If the last audit record is in the database then, nothing is lost.
    private var missingLog: StartFinding? {
        let end = marks.head?.isLast == true ? "" : " after an unclean shutdown"
        func finding(_ why: String) -> StartFinding {
            StartFinding(
                .logMissing, "the write-ahead log \(logPath) is missing\(end)", why: why,
                remedy: "put back the file, or restore a backup")
        }
        guard let head = marks.head else { return finding("the database may lack the last acknowledged changes") }
        guard !hasSharedMemory, auditAnswer == true else {
            return finding(
                "expected audit record \(head.end.sequence) in an intact database; the last acknowledged changes are lost"
            )
        }
        return head.doubt(onBoot: bootIdentifier).map {
            finding(
                "\($0), so the database may lack the last acknowledged changes; it holds audit record \(head.end.sequence). Nothing is lost if another program such as sqlite3 opened the database and checkpointed the log"
            )
        }
    }

    /// SQLite also truncates a log itself, after all of it was copied into the database.
    private var emptiedLog: StartFinding? {
        guard let head = marks.head, auditAnswer == true else { return nil }
        return StartFinding(
            .logEmptied, "the write-ahead log \(logPath) is empty",
            why: "acknowledged audit record \(head.end.sequence) is not in the database",
            remedy: "put back the file, or restore a backup")
    }

    private var lossByShippedHead: StartFinding? {
        guard let content, content.restoredFrom == nil,
            case .found(let file, _, let at, let difference?) = content.shippedHead
        else { return nil }
        return StartFinding(
            .databaseOlderThanShippedHead,
            "the database \(databasePath) does not hold the audit head that was shipped at \(at) to \(file)",
            why: "\(difference); its last record is \(content.auditEnd.map { "\($0.sequence)" } ?? "none")",
            remedy: "put back the newer database, or restore the newest backup")
    }

    /// No reason to refuse: the lock file lies beside the database and is copied and restored with it.
    private var lossByLockFile: StartFinding? {
        guard let content, content.restoredFrom == nil, let difference = content.differenceFromLock else { return nil }
        return StartFinding(
            .databaseOlderThanLockFile, "the database \(databasePath) is not as the last daemon left it",
            why: "\(difference); no audit head was shipped to compare with",
            remedy: "unless this is intended, stop the daemon and put back the newer database or restore a backup")
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

    /// An interrupted first start leaves the same files.
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
        guard marks.isOpen, marks.head?.isLast != true, !hasClaimsLog else { return nil }
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
