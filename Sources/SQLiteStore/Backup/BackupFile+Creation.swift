import FoundationEssentials
import GRDB
import Glibc
package import MerchantCore
import StoreCore
package import Vocabulary

extension BackupFile {
    /// The suffix of the names of drafts. A draft is a backup file that is not complete yet.
    package static let draftSuffix = ".new"

    /// A new name for a draft, in the directory of the backup.
    package static func draft(of target: String) -> String {
        "\(target).\(getpid())-\(UInt32.random(in: 0 ... .max))\(draftSuffix)"
    }

    /// Removes a draft, and the journal that SQLite may have left beside it.
    package static func removeDraft(_ draft: String) {
        unlink(draft)
        unlink(draft + "-journal")
    }

    /// Writes a database, followed by a manifest, to a new file with mode 0600.
    ///
    /// First writes and syncs the draft. Then links `target` to the draft, so that a file named `target` is always
    /// complete. The draft is removed, also after an error.
    ///
    /// - Parameters:
    ///   - draft: the result of ``draft(of:)``.
    ///   - writeDatabase: writes the SQLite database to the draft, which is an empty file when this is called.
    /// - Throws: `backupFailed` if `target` exists or cannot be written; `storeUnavailable` if its directory cannot be
    ///   synced; the errors of `writeDatabase`, and of reading the draft.
    package static func create(
        at target: String, draft: String, programVersion: String, at now: Timestamp,
        writeDatabase: () async throws -> Void
    ) async throws -> BackupManifest {
        guard access(target, F_OK) != 0 else {
            throw MerchantError(
                .backupFailed, "\(target) already exists, and a backup never replaces a file: choose another name")
        }
        // Creates the draft here and not through SQLite, so that other users can never open the draft.
        let file = Glibc.open(draft, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw failure("the daemon's user cannot create a file in the directory of \(target)") }
        defer {
            removeDraft(draft)
            Glibc.close(file)
        }
        guard fchmod(file, 0o600) == 0 else {
            throw failure("the daemon's user cannot create a file in the directory of \(target)")
        }
        try await writeDatabase()
        let manifest = try await manifest(of: draft, file: file, programVersion: programVersion, at: now)
        let line = try ManifestText(manifest).line()
        let written = line.withUnsafeBytes {
            pwrite(file, $0.baseAddress, line.count, off_t(manifest.databaseBytes))
        }
        guard written == line.count, fsync(file) == 0 else { throw failure("cannot write \(target)") }
        // If another program has created `target` meanwhile, link(2) fails, whereas rename(2) would replace that file.
        guard link(draft, target) == 0 else { throw failure("cannot create \(target)") }
        unlink(draft)
        try DatabaseFile.syncDirectory(of: target)
        return manifest
    }

    /// Builds the manifest of a copy of the database. Reads all numbers from the copy, because the database may have
    /// changed since the copy was written.
    ///
    /// - Parameter file: the open descriptor of the copy.
    private static func manifest(
        of copy: String, file: Int32, programVersion: String, at now: Timestamp
    ) async throws -> BackupManifest {
        var configuration = Configuration()
        configuration.readonly = true
        let queue = try DatabaseQueue(path: copy, configuration: configuration)
        defer { try? queue.close() }
        var manifest = try await queue.read { db in
            let reader = StoreReader(db: db)
            let counts = try reader.counts(at: now)
            return BackupManifest(
                createdAt: now, programVersion: programVersion,
                schemaVersion: try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0, databaseBytes: 0, sha256: [],
                merchants: counts.merchants, keyPairs: counts.keyPairs, certificates: counts.certificates,
                auditHead: counts.auditHead, newestKeyPairId: try reader.newestKeyPairId())
        }
        var found = stat()
        guard fstat(file, &found) == 0 else { throw failure("cannot read the size of \(copy)") }
        manifest.databaseBytes = Int(found.st_size)
        manifest.sha256 = try digest(ofFirst: manifest.databaseBytes, from: file, named: copy)
        return manifest
    }
}
