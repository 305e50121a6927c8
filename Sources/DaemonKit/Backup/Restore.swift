import Glibc
import MerchantCore
import MerchantOperations
import SQLiteStore
import Vocabulary

/// Replaces the database by a backup. If a restore is interrupted, either the old or the new database is in place, or
/// the daemon refuses to start until the restore is run again.
struct Restore {
    let settings: Settings
    /// The path of the backup.
    let file: String
    /// Whether the restore may replace an existing database, which it moves to another directory.
    let replaces: Bool
    /// Whether a backup that failed verification is accepted.
    let acceptsFindings: Bool
    let masterKeys: MasterKeys
    let clock: any WallClock

    /// The changes that a restore undoes: those that the old database contains and the backup lacks.
    enum RevertedChanges {
        case known(DatabaseDifference)
        /// The databases could not be compared. The text is the reason.
        case unknown(String)

        var summary: String {
            switch self {
            case .known(let difference):
                difference.summary
                    ?? "nothing: key pairs, certificates, rolls, registrations, merchants, accesses, invitations and merchant tokens are as in the old database"
            case .unknown(let why):
                "it is not known which keys, accesses and invitations, revoked after the backup was created, are usable again: \(why)"
            }
        }

        /// Whether the databases could be compared and have the same content, apart from the audit.
        var areNone: Bool {
            if case .known(let difference) = self { difference.isEmpty } else { false }
        }

        /// Which audit records the restored database lacks; empty if that is none, or not known.
        var missingAuditRecords: String {
            guard case .known(let difference) = self, let missing = difference.missingAuditRecords else { return "" }
            return missing.count == 1
                ? "audit record \(missing.lowerBound) is missing"
                : "audit records \(missing.lowerBound) to \(missing.upperBound) are missing"
        }

        /// The keys that were exported after the backup was created, at most ``DatabaseDifference/maximumListed``.
        var exportedKeys: [PublicKeyHash] {
            guard case .known(let difference) = self else { return [] }
            return difference[.exports].listed.compactMap { change in
                if case .keyPair(let hash) = change.subject { hash } else { nil }
            }
        }
    }

    struct Report {
        let verification: BackupVerificationResult
        let undone: RevertedChanges
        /// The directory that contains the old database now; nil if there was none.
        let oldDatabaseDirectory: String?
    }

    /// How many characters of an earlier restore's summary are repeated.
    private static let longestEarlierSummary = 500
    private static let earlierRestorePrefix = "at an earlier restore: "

    /// The path of the copy of the backup, which becomes the database.
    private var draft: String { Self.draft(settings) }

    private static func draft(_ settings: Settings) -> String { settings.databasePath + ".restoring" }

    /// Removes the files of a restore that was killed before it moved the old database. Call while the
    /// ``InstanceLock`` is held.
    static func removeLeftovers(_ settings: Settings) {
        for suffix in SQLiteStore.fileSuffixes { unlink(draft(settings) + suffix) }
        unlink(settings.restoreMarkerPath + RestoreMarker.draftSuffix)
    }

    func run() async throws -> Report {
        let backup = try BackupFile(reading: file)
        try StateDirectory.prepare(settings.stateDirectory)
        let lock = try InstanceLock(path: settings.lockPath)
        let marker = RestoreMarker(path: settings.restoreMarkerPath)
        // The directory to which an interrupted restore was moving the old database; nil if there was no such restore.
        let interruptedMoveTarget = try marker.read()
        guard interruptedMoveTarget != nil || replaces || !hasDatabase else {
            throw SettingsError(
                "\(settings.stateDirectory) already holds a database; pass --replace to move that database to another directory"
            )
        }
        removeDraft()
        try requireSpace(backup.manifest.databaseBytes)
        try backup.copyDatabase(to: draft)
        let verification: BackupVerificationResult
        let undone: RevertedChanges
        do {
            var changes = RevertedChanges.unknown("the backup failed verification")
            verification = try await BackupVerification(masterKeys: masterKeys, clock: clock).run(
                on: draft, backup.manifest, acceptsFindings: acceptsFindings
            ) { copy in
                let reverted = undoneChanges(interruptedMoveTarget)
                changes = reverted
                let description = "\(file), created at \(backup.manifest.createdAt), restored at \(clock.now)"
                let undone = [
                    reverted.areNone ? nil : reverted.summary, summaryOfEarlierRestore(interruptedMoveTarget),
                ].compactMap(\.self).joined(separator: "; ")
                let missing = reverted.missingAuditRecords
                let audited = [description, missing, undone.isEmpty ? reverted.summary : undone]
                    .filter { !$0.isEmpty }.joined(separator: "; ")
                try await copy.write {
                    try $0.setDaemonValue(StartOperations.restoreValueName, audited)
                    try $0.setDaemonValue(StartOperations.undoneByRestoreValueName, undone)
                    try $0.setDaemonValue(StartOperations.missingRecordsValueName, missing)
                    // The backup lacks later changes: a waiting period may seem to have passed although it has not,
                    // and a session at the portal that was ended later may seem open.
                    try WaitingTimesAfterRestore.restart(
                        at: clock.now, exported: reverted.exportedKeys, in: $0)
                }
                // Also copies the write-ahead log into the database file, because only that file is put in place.
                try await copy.eraseRemovedBytes()
            }
            guard acceptsFindings || verification.findings.isEmpty else {
                throw MerchantError(
                    .backupFailed,
                    "\(file) failed verification, so the database was not replaced: \(verification.findings.prefix(3).joined(separator: "; ")); use an older backup, or pass --accept-findings if there is none"
                )
            }
            undone = changes
        } catch {
            removeDraft()
            throw error
        }
        let oldDatabaseDirectory =
            interruptedMoveTarget
            ?? "\(settings.stateDirectory)/replaced-\(clock.now.rfc3339.filter { $0 != ":" })"
        let hadOldDatabase = try exchangeFiles(oldDatabaseDirectory, marker)
        // Removes the existing entries of the lock file, because they describe the old database.
        try lock.update { $0 = .init(wasClosedWithoutLog: true) }
        try marker.remove()
        return Report(
            verification: verification, undone: undone,
            oldDatabaseDirectory: hadOldDatabase ? oldDatabaseDirectory : nil)
    }

    /// Moves the files of the old database into a directory, and gives the draft the name of the database.
    ///
    /// - Returns: whether there was an old database.
    private func exchangeFiles(_ oldDatabaseDirectory: String, _ marker: RestoreMarker) throws -> Bool {
        for suffix in SQLiteStore.fileSuffixes.dropFirst() { unlink(draft + suffix) }
        try StableStorage.sync(draft)
        try marker.write(oldDatabaseDirectory)
        for suffix in SQLiteStore.fileSuffixes {
            let source = settings.databasePath + suffix
            let target = "\(oldDatabaseDirectory)/merchantkeyd.sqlite\(suffix)"
            // If the target exists, an interrupted restore has moved the old file. Then the file at `source` is from
            // the backup and stays.
            guard access(source, F_OK) == 0, access(target, F_OK) != 0 else { continue }
            guard mkdir(oldDatabaseDirectory, 0o700) == 0 || errno == EEXIST else {
                throw StableStorage.systemError("cannot create \(oldDatabaseDirectory)")
            }
            guard rename(source, target) == 0 else {
                throw StableStorage.systemError("cannot move \(source) to \(target)")
            }
        }
        let hadOldDatabase = access(oldDatabaseDirectory, F_OK) == 0
        if hadOldDatabase { try StableStorage.sync(oldDatabaseDirectory) }
        guard rename(draft, settings.databasePath) == 0 else {
            throw StableStorage.systemError("cannot put \(settings.databasePath) in place")
        }
        try StableStorage.sync(settings.stateDirectory)
        return hadOldDatabase
    }

    /// What a restore before this one undid, if `status` still reports that restore. Its summary is in the database
    /// that is now replaced, and an operator may not have read it yet. So the new summary repeats it.
    ///
    /// - Parameter interruptedMoveTarget: as in ``oldDatabase(_:)``.
    private func summaryOfEarlierRestore(_ interruptedMoveTarget: String?) -> String? {
        guard let old = oldDatabase(interruptedMoveTarget) else { return nil }
        func storedText(_ name: String) -> String { DatabaseInspection.daemonValue(name, in: old) ?? "" }
        let since = Timestamp(rfc3339: storedText(StartOperations.olderDatabaseAcceptedValueName))
        guard
            !storedText(StartOperations.restoreValueName).isEmpty
                || since.map({ clock.now < $0.adding(StartRecord.noticePeriod) }) == true
        else { return nil }
        let undone = storedText(StartOperations.undoneByRestoreValueName)
        guard !undone.isEmpty else { return nil }
        let first = undone.hasPrefix(Self.earlierRestorePrefix) ? "" : Self.earlierRestorePrefix
        return first + undone.prefix(Self.longestEarlierSummary)
    }

    /// The path of the database that is replaced; nil if there is none.
    ///
    /// - Parameter interruptedMoveTarget: the directory to which an interrupted restore was moving the old database;
    ///   nil if there was no such restore.
    private func oldDatabase(_ interruptedMoveTarget: String?) -> String? {
        let movedDatabase = interruptedMoveTarget.map { "\($0)/merchantkeyd.sqlite" }
        if let movedDatabase, access(movedDatabase, F_OK) == 0 { return movedDatabase }
        return hasDatabase ? settings.databasePath : nil
    }

    /// Compares the old database with the draft.
    ///
    /// - Parameter interruptedMoveTarget: as in ``oldDatabase(_:)``.
    private func undoneChanges(_ interruptedMoveTarget: String?) -> RevertedChanges {
        guard let old = oldDatabase(interruptedMoveTarget) else { return .unknown("there was no database here") }
        // If an interrupted restore moved the old database but not its log, the moved database lacks its last changes.
        guard old == settings.databasePath || access(settings.databasePath + "-wal", F_OK) != 0 else {
            return .unknown("an earlier restore was interrupted while it moved the old database aside")
        }
        do { return .known(try DatabaseDifference(from: old, to: draft)) } catch {
            return .unknown("the old database cannot be read (\(Diagnosis.detail(of: error)))")
        }
    }

    private var hasDatabase: Bool {
        SQLiteStore.fileSuffixes.contains { access(settings.databasePath + $0, F_OK) == 0 }
    }

    private func removeDraft() { Self.removeLeftovers(settings) }

    private func requireSpace(_ bytes: Int) throws {
        let free = ScratchDirectory.freeSpace(in: settings.stateDirectory)
        // Space for the copy, and for its log while the schema is migrated.
        let needed = bytes + bytes / 4 + (4 << 20)
        guard free >= needed else {
            throw SettingsError(
                "\(settings.stateDirectory) has \(free.counted("free byte")), but the restore needs \(needed); free space on the disk"
            )
        }
    }
}
