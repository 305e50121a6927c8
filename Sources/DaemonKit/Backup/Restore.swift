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

    struct Report {
        let verification: BackupVerificationResult
        let undone: RevertedChanges
        /// The directory that contains the old database now; nil if there was none.
        let oldDatabaseDirectory: String?
    }

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
        let prepared: RestorePreparation.Result
        do {
            prepared = try await RestorePreparation(
                backup: backup, acceptsFindings: acceptsFindings, masterKeys: masterKeys, clock: clock
            ).run(on: draft, replacing: oldDatabase(interruptedMoveTarget))
        } catch {
            removeDraft()
            throw error
        }
        let oldDatabaseDirectory =
            interruptedMoveTarget
            ?? "\(settings.stateDirectory)/replaced-\(clock.now.rfc3339.filter { $0 != ":" })"
        let hadOldDatabase = try exchangeFiles(oldDatabaseDirectory, marker)
        try lock.update { $0 = $0.afterRestore }
        try marker.remove()
        return Report(
            verification: prepared.verification, undone: prepared.undone,
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
            // the backup and is not moved.
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

    /// The database that is replaced.
    ///
    /// - Parameter interruptedMoveTarget: the directory to which an interrupted restore was moving the old database;
    ///   nil if there was no such restore.
    private func oldDatabase(_ interruptedMoveTarget: String?) -> RestorePreparation.OldDatabase {
        let movedDatabase = interruptedMoveTarget.map { "\($0)/merchantkeyd.sqlite" }
        if let movedDatabase, access(movedDatabase, F_OK) == 0 {
            // If an interrupted restore moved the old database but not its log, the moved database lacks its last
            // changes.
            return access(settings.databasePath + "-wal", F_OK) != 0
                ? .file(movedDatabase)
                : .incomplete(
                    movedDatabase, reason: "an earlier restore was interrupted while it moved the old database aside")
        }
        return hasDatabase ? .file(settings.databasePath) : .none(reason: "there was no database here")
    }

    private var hasDatabase: Bool {
        SQLiteStore.fileSuffixes.contains { access(settings.databasePath + $0, F_OK) == 0 }
    }

    private func removeDraft() { Self.removeLeftovers(settings) }

    private func requireSpace(_ bytes: Int) throws {
        let free = ScratchDirectory.freeSpace(in: settings.stateDirectory)
        // Space for the copy, and for SQLite's write-ahead log while the schema of the copy is migrated to the present
        // version.
        let needed = bytes + bytes / 4 + (4 << 20)
        guard free >= needed else {
            throw SettingsError(
                "\(settings.stateDirectory) has \(free.counted("free byte")), but the restore needs \(needed); delete files to make space on the disk"
            )
        }
    }
}
