import MerchantCore

/// Findings about a database that lacks acknowledged changes. `marks` is what the last daemon wrote into the lock file.
extension StartObservation {
    /// The findings that refuse the start unless the operator accepts the loss.
    var losses: [StartFinding] {
        // If the lock file lists losses, an earlier start found and accepted them, but did not record them in the
        // audit. The files no longer show these losses, because that start opened the database.
        let lossesFromFiles = marks.unrecordedLosses.isEmpty ? [lossInFiles].compactMap(\.self) : unrecordedLosses
        return lossesFromFiles + [lossByShippedHead].compactMap(\.self)
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
        if let expected = marks.replacedInode, let found = database?.inode, isReplaced {
            return StartFinding(
                .databaseReplaced, "the database \(databasePath) was moved or replaced while a daemon used it",
                why: "found inode \(found), expected \(expected)",
                remedy: "put back the original file with its '-wal' file, or restore a backup")
        }
        guard marks.isOpen, !hasLogContent else { return nil }
        return log == nil ? missingLog : emptiedLog
    }

    var missingDatabase: StartFinding? {
        let traces = [
            marks.isOpen || marks.replacedInode != nil ? "its mark in the lock file" : nil,
            hasLogContent ? "its write-ahead log" : nil, hasClaims ? "the claims file" : nil,
        ].compactMap(\.self)
        guard !traces.isEmpty else { return nil }
        return StartFinding(
            .databaseMissing, "the database \(databasePath) is missing or empty",
            why: "a daemon used it here before: found \(traces.joined(separator: " and "))",
            remedy: "check that the volume is mounted, put back the file with its '-wal' file, or restore a backup")
    }

    /// A missing log is no loss if another program, such as `sqlite3`, opened the database after the daemon was killed.
    /// When that program closes the database, SQLite copies the log into the database file. Then it deletes the shared
    /// memory file (`-shm`), and after that the log.
    ///
    /// So nothing is lost if the shared memory file is gone too and the database contains the last audit record.
    private var missingLog: StartFinding? {
        let circumstance = marks.head?.wasWrittenAtShutdown == true ? "" : " after an unclean shutdown"
        func finding(_ why: String) -> StartFinding {
            StartFinding(
                .logMissing, "the write-ahead log \(logPath) is missing\(circumstance)", why: why,
                remedy: "put back the file, or restore a backup")
        }
        guard let head = marks.head else { return finding("the database may lack the last acknowledged changes") }
        guard !hasSharedMemory, databaseHoldsRecord else {
            return finding(
                "expected audit record \(head.end.sequence) in an intact database; the last acknowledged changes are lost"
            )
        }
        // The daemon does not sync the lock file after each change. So after a reboot, the file may name an older
        // record than the last.
        return head.reasonForLaterChanges(onBoot: bootIdentifier).map {
            finding(
                "\($0), so the database may lack the last acknowledged changes; it holds audit record \(head.end.sequence). Nothing is lost if another program such as sqlite3 opened the database and checkpointed the log"
            )
        }
    }

    /// An empty log is no loss if the database file contains the last audit record: SQLite itself truncates a log after
    /// it copied all of it into that file.
    private var emptiedLog: StartFinding? {
        guard let head = marks.head, fileLacksRecord else { return nil }
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

    /// The daemon starts in spite of this finding and records it. The lock file is weaker evidence than a shipped head:
    /// it is in the same directory as the database, so a copy of the directory restores both and shows no difference.
    var lossByLockFile: StartFinding? {
        guard let content, content.restoredFrom == nil, let difference = content.differenceFromLock else { return nil }
        return StartFinding(
            .databaseOlderThanLockFile, "the database \(databasePath) is not as the last daemon left it",
            why: "\(difference); no audit head was shipped to compare with",
            remedy: "unless this is intended, stop the daemon and put back the newer database or restore a backup")
    }
}
