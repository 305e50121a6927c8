import Glibc
import MerchantCore
import MerchantOperations
import SQLiteStore
import Vocabulary

/// Puts a backup in the place of a database, so that at every moment either the old one or the new one is there, or the
/// daemon refuses to start and says that the restore is to be run again.
struct Restore {
    let settings: Settings
    let file: String
    /// Whether a database that is there is moved aside.
    let replaces: Bool
    /// Whether a backup with findings is good enough.
    let acceptsFindings: Bool
    let masterKeys: MasterKeys
    let clock: any WallClock

    /// What the restore undoes of what was done since the backup.
    enum RevertedChange {
        case known(DatabaseDifference)
        /// Why it is not known.
        case unknown(String)

        var summary: String {
            switch self {
            case .known(let difference):
                difference.summary
                    ?? "nothing: key pairs, certificates, rolls, registrations and merchants are as the old database had them"
            case .unknown(let why): "which keys that were withdrawn since answer again is not known: \(why)"
            }
        }

        /// Keys whose export the restored database does not know.
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
        /// Where the old database is now; nil where there was none.
        let aside: String?
    }

    /// In characters.
    private static let longestUndone = 500

    private var draft: String { Self.draft(settings) }
    /// A journal is there only where the making of a database was cut short; SQLite rolls back whatever lies beside one by it.
    private static let suffixes = ["", "-wal", "-shm", "-journal"]

    private static func draft(_ settings: Settings) -> String { settings.databasePath + ".restoring" }

    /// Removes the copy of a restore that was killed before it changed anything. For whoever holds the directory's lock.
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
                "\(settings.stateDirectory) holds a database, expected none, or --replace to move it aside")
        }
        removeDraft()
        try requireRoom(backup.manifest.databaseBytes)
        try backup.copyDatabase(to: draft)
        let verification: BackupVerificationResult
        let undone: RevertedChange
        do {
            let trial = BackupVerification(masterKeys: masterKeys, clock: clock)
            var found = RevertedChange.unknown("the backup is not good")
            verification = try await trial.run(on: draft, backup.manifest, accepts: acceptsFindings) { copy in
                let undone = compare(with: begun)
                found = undone
                let note = "\(file), made at \(backup.manifest.createdAt), restored at \(clock.now)"
                let summary =
                    undone.summary + (undoneBefore(begun).map { "; at the restore before this one: \($0)" } ?? "")
                try await copy.write {
                    try $0.setDaemonFact(StartOperations.restoredFact, "\(note); \(summary)")
                    try $0.setDaemonFact(StartOperations.undoneFact, summary)
                    try WaitingTimesAfterRestore.restart(
                        at: clock.now, exported: undone.exportedKeys, in: $0)
                }
                // Everything into the one file that takes the database's name.
                try await copy.eraseRemovedBytes()
            }
            guard acceptsFindings || verification.findings.isEmpty else {
                throw MerchantError(
                    .backupFailed,
                    "\(file) is not good, and nothing was changed: \(verification.findings.prefix(3).joined(separator: "; ")); take an older one, or --accept-findings where there is none"
                )
            }
            undone = found
        } catch {
            removeDraft()
            throw error
        }
        let aside = begun ?? "\(settings.stateDirectory)/replaced-\(clock.now.rfc3339.filter { $0 != ":" })"
        let isMoved = try exchange(aside, marker)
        // The marks before were the old one's.
        try lock.set { $0 = .init(isClosed: true) }
        try marker.remove()
        return Report(verification: verification, undone: undone, aside: isMoved ? aside : nil)
    }

    /// - Returns: whether an old database is aside.
    private func exchange(_ aside: String, _ marker: RestoreMarker) throws -> Bool {
        for suffix in Self.suffixes.dropFirst() { unlink(draft + suffix) }
        try Durable.sync(draft)
        try marker.write(aside)
        for suffix in Self.suffixes {
            let here = settings.databasePath + suffix
            let there = "\(aside)/merchantkeyd.sqlite\(suffix)"
            // What is there already was moved by a run that was cut short: then the one here is a backup's.
            guard access(here, F_OK) == 0, access(there, F_OK) != 0 else { continue }
            guard mkdir(aside, 0o700) == 0 || errno == EEXIST else { throw Durable.failure("cannot make \(aside)") }
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

    /// What a restore a short time ago took back: nobody may have seen to it yet, and the one now knows nothing of it.
    private func undoneBefore(_ begun: String?) -> String? {
        guard let old = old(begun) else { return nil }
        func fact(_ name: String) -> String { DatabaseInspection.fact(name, in: old) ?? "" }
        let since = Timestamp(rfc3339: fact(StartOperations.olderSinceFact))
        guard
            !fact(StartOperations.restoredFact).isEmpty
                || since.map({ clock.now < $0.adding(StartRecord.showsOlder) }) == true
        else { return nil }
        let undone = fact(StartOperations.undoneFact)
        return undone.isEmpty ? nil : String(undone.prefix(Self.longestUndone))
    }

    /// Where the database that goes is.
    private func old(_ begun: String?) -> String? {
        let aside = begun.map { "\($0)/merchantkeyd.sqlite" }
        if let aside, access(aside, F_OK) == 0 { return aside }
        return hasDatabase ? settings.databasePath : nil
    }

    /// Compares the database that is replaced with the one that replaces it.
    ///
    /// - Parameter begun: where a restore that was cut short was moving the old one.
    private func compare(with begun: String?) -> RevertedChange {
        guard let old = old(begun) else { return .unknown("there was no database here") }
        // Its log is still on its way: without it the old database is older than it was.
        guard old == settings.databasePath || access(settings.databasePath + "-wal", F_OK) != 0 else {
            return .unknown("the restore before was cut short while it moved the old database aside")
        }
        do { return .known(try DatabaseDifference(from: old, to: draft)) } catch {
            return .unknown("the old database cannot be read (\(Diagnosis.words(error)))")
        }
    }

    private var hasDatabase: Bool { Self.suffixes.contains { access(settings.databasePath + $0, F_OK) == 0 } }

    private func removeDraft() { Self.removeLeftovers(settings) }

    private func requireRoom(_ bytes: Int) throws {
        let room = ScratchDirectory.room(in: settings.stateDirectory)
        let needed = bytes + bytes / 4 + (4 << 20)
        guard room >= needed else {
            throw SettingsError("\(settings.stateDirectory) has room for \(room) bytes, expected \(needed)")
        }
    }
}

/// Says that a restore is under way, and where the old database goes. Its file is there from before the first file is moved
/// until after the last.
struct RestoreMarker {
    fileprivate static let draft = ".new"

    let path: String

    /// - Returns: where the old database goes; nil where no restore is under way.
    func read() throws -> String? {
        guard access(path, F_OK) == 0 else { return nil }
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard file >= 0 else { throw Durable.failure("cannot read \(path)") }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = max(0, Glibc.read(file, &bytes, bytes.count))
        return String(decoding: bytes[..<count], as: UTF8.self).split(separator: "\n").first.map(String.init)
            ?? path + "-aside"
    }

    func write(_ aside: String) throws {
        let draft = path + Self.draft
        unlink(draft)
        let file = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Durable.failure("cannot make \(path)") }
        defer { close(file) }
        let text = Array("\(aside)\n".utf8)
        guard Glibc.write(file, text, text.count) == text.count, fsync(file) == 0, rename(draft, path) == 0 else {
            throw Durable.failure("cannot make \(path)")
        }
        try Durable.sync(directory)
    }

    func remove() throws {
        unlink(path)
        try Durable.sync(directory)
    }

    private var directory: String { path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "." }
}
