import MerchantCore

/// Findings about a loss: the database lacks changes that the daemon has acknowledged.
extension StartObservation {
    /// The findings for which a start is refused unless the operator accepts the loss.
    var losses: [StartFinding] {
        // If the lock file lists losses, the operator accepted them at an earlier start, which stopped before it
        // recorded them in the audit. That start also removed the lock file's entries about the previous database,
        // and SQLite created missing files again. So the files no longer show these losses.
        let lossesShownByFilesOrAcceptedEarlier =
            lockFile.lossesNotInAudit.isEmpty ? [lossShownByFiles].compactMap(\.self) : acceptedLosses
        return lossesShownByFilesOrAcceptedEarlier + [lossShownByShippedHead].compactMap(\.self)
    }

    /// Each finding has exactly the text in the lock file. If the operator accepts the loss again,
    /// ``InstanceLock/storeAcceptedLosses(_:)`` recognises the text and does not store the loss twice.
    var acceptedLosses: [StartFinding] {
        lockFile.lossesNotInAudit.map {
            StartFinding(
                .acceptedLossNotInAudit, $0,
                remedy:
                    "restore a backup (an earlier start accepted this loss, but stopped before it recorded the loss in the audit)"
            )
        }
    }

    private var lossShownByFiles: StartFinding? {
        // An interrupted first start leaves a database without audit records.
        let hasLostAudit = lockFile.head != nil && auditComparison?.isAuditEmpty == true
        guard hasDatabaseContent, !hasLostAudit else { return missingDatabaseFinding }
        // `inodeIfReplaced` is the inode of the file that the daemon had open, not of the file that replaced it.
        if let expected = lockFile.inodeIfReplaced, let found = database?.inode, isDatabaseReplaced {
            return StartFinding(
                .databaseReplaced, "the database \(databasePath) was moved or replaced while a daemon used it",
                why: "the file there now has inode \(found), but the daemon used inode \(expected)",
                remedy: "put back the original file with its '-wal' file, or restore a backup")
        }
        guard lockFile.expectsLog, !hasLogContent else { return nil }
        return log == nil ? missingLogFinding : emptiedLogFinding
    }

    var missingDatabaseFinding: StartFinding? {
        let traces = [
            lockFile.expectsLog || lockFile.inodeIfReplaced != nil ? "its entry in the lock file" : nil,
            lockFile.head.map { "its last audit record, \($0.auditHead.sequence), in the lock file" },
            hasLogContent ? "its write-ahead log" : nil, claims != nil ? "the claims file" : nil,
        ].compactMap(\.self)
        guard !traces.isEmpty else { return nil }
        return StartFinding(
            .databaseMissing, "the database \(databasePath) is missing or empty",
            why: "a daemon has used a database here before, as these show: \(traces.joined(separator: ", "))",
            remedy:
                "check that the volume is mounted; if it is, put back the file with its '-wal' file, or restore a backup"
        )
    }

    /// A missing log is no loss if another program, such as `sqlite3`, opened the database after the daemon was killed.
    /// When that program closed the database, SQLite copied the log into the database file, deleted the shared memory
    /// file (`-shm`), and then deleted the log.
    ///
    /// So nothing is lost if the shared memory file is missing too and the database contains the last audit record.
    private var missingLogFinding: StartFinding? {
        let circumstance = lockFile.head?.wasWrittenAtShutdown == true ? "" : " after an unclean shutdown"
        func finding(_ why: String) -> StartFinding {
            StartFinding(
                .logMissing, "the write-ahead log \(logPath) is missing\(circumstance)", why: why,
                remedy: "put back the file, or restore a backup")
        }
        guard let head = lockFile.head else { return finding("the database may lack the last acknowledged changes") }
        guard !hasSharedMemory, databaseHoldsRecord else {
            return finding(
                hasSharedMemory
                    ? "the shared memory file '-shm' still exists, so no other program has copied the log into the database, and the last acknowledged changes may be lost"
                    : "without the log, the database is damaged or lacks audit record \(head.auditHead.sequence), so the last acknowledged changes are lost"
            )
        }
        // The daemon does not sync the lock file after each change. So after a reboot, the lock file may name an older
        // record than the last one.
        return head.whyLaterChangesArePossible(onBoot: bootIdentifier).map {
            finding(
                "\($0), so the database may lack the last acknowledged changes after audit record \(head.auditHead.sequence). Nothing is lost if another program such as sqlite3 opened the database and copied the log into it"
            )
        }
    }

    /// An empty log is no loss if the database file contains the last audit record: SQLite itself truncates a log that
    /// it has copied completely into the database file.
    ///
    /// `fileLacksRecord` is about the database file alone, without its log.
    private var emptiedLogFinding: StartFinding? {
        guard let head = lockFile.head, fileLacksRecord else { return nil }
        return StartFinding(
            .logEmptied, "the write-ahead log \(logPath) is empty",
            why: "audit record \(head.auditHead.sequence), whose change was acknowledged, is not in the database",
            remedy: "put back the file, or restore a backup")
    }

    var lossShownByShippedHead: StartFinding? {
        guard let auditComparison, auditComparison.restoredFrom == nil,
            case .found(let file, _, let at, let difference?) = auditComparison.shippedHead
        else { return nil }
        return StartFinding(
            .databaseOlderThanShippedHead,
            "the database \(databasePath) does not match the audit head that the daemon wrote to \(file) at \(at)",
            why:
                "\(difference); the last audit record in the database is \(auditComparison.headInDatabase.map { "\($0.sequence)" } ?? "none")",
            remedy: "put back the newer database, or restore the newest backup")
    }

    /// The daemon starts in spite of this finding and records it in the audit: an operator may have put an older
    /// database here on purpose, and no audit head in `audit.head.file` contradicts that.
    ///
    /// Reported also if the database still contains the description of a restore. A restore removes the head from the
    /// lock file, so a head in the lock file was written after the restore.
    var lossShownByLockFile: StartFinding? {
        guard let difference = auditComparison?.differenceFromLockFile else { return nil }
        return StartFinding(
            .databaseOlderThanHeadInLockFile,
            "the database \(databasePath) does not match the last audit record that the lock file names",
            why: difference,
            remedy:
                "unless you put this database here on purpose, stop the daemon and put back the newer database, or restore a backup"
        )
    }
}
