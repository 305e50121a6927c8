import Glibc
import MerchantCore
import MerchantOperations
import SQLiteStore
import Vocabulary

/// Replaces a database by a backup. At any time either the old or the new database is in place, or the daemon refuses
/// to start and asks for the restore to be run again.
struct Restore {
    let settings: Settings
    /// The path of the backup.
    let file: String
    /// Whether an existing database is moved aside.
    let replaces: Bool
    /// Whether a backup that failed verification is accepted.
    let acceptsFindings: Bool
    let masterKeys: MasterKeys
    let clock: any WallClock

    /// The changes since the backup, which the restore undoes.
    enum RevertedChange {
        case known(DatabaseDifference)
        /// The changes are not known. The text is the reason.
        case unknown(String)

        var summary: String {
            switch self {
            case .known(let difference):
                difference.summary
                    ?? "nothing: key pairs, certificates, rolls, registrations and merchants are as in the old database"
            case .unknown(let why): "it is not known which keys that were revoked since are usable again: \(why)"
            }
        }

        /// Keys that were exported since the backup.
        var exportedKeys: [PublicKeyHash] {
            guard case .known(let difference) = self else { return [] }
            return difference[.exports].named.compactMap { change in
                if case .keyPair(let hash) = change.subject { hash } else { nil }
            }
        }
    }

    struct Report {
        let verification: BackupVerificationResult
        let undone: RevertedChange
        /// Where the old database is now; nil if there was none.
        let aside: String?
    }

    /// How many characters of the text about an earlier restore are repeated.
    private static let longestUndone = 500

    /// The copy of the backup that becomes the database.
    private var draft: String { Self.draft(settings) }
    /// The suffixes of all files of a database. A rollback journal (`-journal`) exists only if the creation of a
    /// database was interrupted. It is moved too, because SQLite would apply it to the new database.
    private static let suffixes = ["", "-wal", "-shm", "-journal"]

    private static func draft(_ settings: Settings) -> String { settings.databasePath + ".restoring" }

    /// Removes the files of a restore that was killed before it changed anything. Call while the ``InstanceLock`` is
    /// held.
    static func removeLeftovers(_ settings: Settings) {
        for suffix in suffixes { unlink(draft(settings) + suffix) }
        unlink(settings.restoreMarkerPath + RestoreMarker.draft)
    }

    func run() async throws -> Report {
        let backup = try BackupFile(reading: file)
        try StateDirectory.prepare(settings.stateDirectory)
        let lock = try InstanceLock(path: settings.lockPath)
        let marker = RestoreMarker(path: settings.restoreMarkerPath)
        let begun = try marker.read()
        guard begun != nil || replaces || !hasDatabase else {
            throw SettingsError(
                "\(settings.stateDirectory) already holds a database; pass --replace to move it aside")
        }
        removeDraft()
        try requireSpace(backup.manifest.databaseBytes)
        try backup.copyDatabase(to: draft)
        let verification: BackupVerificationResult
        let undone: RevertedChange
        do {
            let check = BackupVerification(masterKeys: masterKeys, clock: clock)
            var found = RevertedChange.unknown("the backup failed verification")
            verification = try await check.run(on: draft, backup.manifest, accepts: acceptsFindings) { copy in
                let undone = compare(with: begun)
                found = undone
                let note = "\(file), created at \(backup.manifest.createdAt), restored at \(clock.now)"
                let summary =
                    undone.summary + (undoneBefore(begun).map { "; at the restore before this one: \($0)" } ?? "")
                try await copy.write {
                    try $0.setDaemonFact(StartOperations.restoredFact, "\(note); \(summary)")
                    try $0.setDaemonFact(StartOperations.undoneFact, summary)
                    try WaitingTimesAfterRestore.restart(
                        at: clock.now, exported: undone.exportedKeys, in: $0)
                }
                // Moves the content of the log into the database file, because only that file is put in place.
                try await copy.eraseRemovedBytes()
            }
            guard acceptsFindings || verification.findings.isEmpty else {
                throw MerchantError(
                    .backupFailed,
                    "\(file) failed verification, and nothing was changed: \(verification.findings.prefix(3).joined(separator: "; ")); use an older backup, or pass --accept-findings if there is none"
                )
            }
            undone = found
        } catch {
            removeDraft()
            throw error
        }
        let aside = begun ?? "\(settings.stateDirectory)/replaced-\(clock.now.rfc3339.filter { $0 != ":" })"
        let isMoved = try exchange(aside, marker)
        // The former marks in the lock file describe the old database.
        try lock.set { $0 = .init(isClosed: true) }
        try marker.remove()
        return Report(verification: verification, undone: undone, aside: isMoved ? aside : nil)
    }

    /// Moves the files of the old database into the directory `aside`, and gives the draft the name of the database.
    ///
    /// - Returns: whether there was an old database.
    private func exchange(_ aside: String, _ marker: RestoreMarker) throws -> Bool {
        for suffix in Self.suffixes.dropFirst() { unlink(draft + suffix) }
        try Durable.sync(draft)
        try marker.write(aside)
        for suffix in Self.suffixes {
            let here = settings.databasePath + suffix
            let there = "\(aside)/merchantkeyd.sqlite\(suffix)"
            // If the file is already in the directory `aside`, an interrupted restore moved it. Then the file at `here`
            // is from the backup and stays.
            guard access(here, F_OK) == 0, access(there, F_OK) != 0 else { continue }
            guard mkdir(aside, 0o700) == 0 || errno == EEXIST else { throw Durable.failure("cannot create \(aside)") }
            guard rename(here, there) == 0 else { throw Durable.failure("cannot move \(here) aside") }
        }
        let isMoved = access(aside, F_OK) == 0
        if isMoved { try Durable.sync(aside) }
        guard rename(draft, settings.databasePath) == 0 else {
            throw Durable.failure("cannot put \(settings.databasePath) in place")
        }
        try Durable.sync(settings.stateDirectory)
        return isMoved
    }

    /// What a recent earlier restore undid. This restore replaces the record of that one, but an operator may not have
    /// handled it yet. So the text is repeated in the new record.
    ///
    /// - Parameter begun: as in ``oldDatabase(_:)``.
    private func undoneBefore(_ begun: String?) -> String? {
        guard let old = oldDatabase(begun) else { return nil }
        func fact(_ name: String) -> String { DatabaseInspection.fact(name, in: old) ?? "" }
        let since = Timestamp(rfc3339: fact(StartOperations.olderSinceFact))
        guard
            !fact(StartOperations.restoredFact).isEmpty
                || since.map({ clock.now < $0.adding(StartRecord.olderDatabaseNotice) }) == true
        else { return nil }
        let undone = fact(StartOperations.undoneFact)
        return undone.isEmpty ? nil : String(undone.prefix(Self.longestUndone))
    }

    /// The path of the database that is replaced; nil if there is none.
    ///
    /// - Parameter begun: the directory to which an interrupted restore was moving the old database; nil if there was
    ///   no such restore.
    private func oldDatabase(_ begun: String?) -> String? {
        let aside = begun.map { "\($0)/merchantkeyd.sqlite" }
        if let aside, access(aside, F_OK) == 0 { return aside }
        return hasDatabase ? settings.databasePath : nil
    }

    /// Compares the database that is replaced with the one that replaces it.
    ///
    /// - Parameter begun: as in ``oldDatabase(_:)``.
    private func compare(with begun: String?) -> RevertedChange {
        guard let old = oldDatabase(begun) else { return .unknown("there was no database here") }
        // If the old database was moved but its log was not, the moved database lacks its last changes.
        guard old == settings.databasePath || access(settings.databasePath + "-wal", F_OK) != 0 else {
            return .unknown("an earlier restore was interrupted while it moved the old database aside")
        }
        do { return .known(try DatabaseDifference(from: old, to: draft)) } catch {
            return .unknown("the old database cannot be read (\(Diagnosis.detail(of: error)))")
        }
    }

    private var hasDatabase: Bool { Self.suffixes.contains { access(settings.databasePath + $0, F_OK) == 0 } }

    private func removeDraft() { Self.removeLeftovers(settings) }

    private func requireSpace(_ bytes: Int) throws {
        let free = ScratchDirectory.freeSpace(in: settings.stateDirectory)
        let needed = bytes + bytes / 4 + (4 << 20)
        guard free >= needed else {
            throw SettingsError("\(settings.stateDirectory) has \(free) free bytes, expected \(needed); make room")
        }
    }
}
