import MerchantCore

/// Findings about a database that lacks acknowledged changes.
extension StartObservation {
    var losses: [StartFinding] {
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

    var missingDatabase: StartFinding? {
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
    var lossByLockFile: StartFinding? {
        guard let content, content.restoredFrom == nil, let difference = content.differenceFromLock else { return nil }
        return StartFinding(
            .databaseOlderThanLockFile, "the database \(databasePath) is not as the last daemon left it",
            why: "\(difference); no audit head was shipped to compare with",
            remedy: "unless this is intended, stop the daemon and put back the newer database or restore a backup")
    }
}
