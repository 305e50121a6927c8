import FoundationEssentials
import GRDB
import Glibc
package import MerchantCore
import StoreCore
package import Vocabulary

extension SQLiteStore {
    /// Writes one consistent state of the database, followed by a manifest, to a new file with mode 0600. Other writes
    /// to the database continue meanwhile. Deleted content of the database is not copied.
    ///
    /// First writes and syncs a draft: a file with another name in the same directory. Then links the draft to
    /// `target`, so that a file named `target` is always complete.
    ///
    /// - Throws: `backupFailed` if `target` exists or cannot be written; `storeUnavailable` if the database is damaged.
    package func backUp(to target: String, programVersion: String, at now: Timestamp) async throws -> BackupManifest {
        guard access(target, F_OK) != 0 else {
            throw MerchantError(
                .backupFailed, "\(target) already exists, and a backup never replaces a file: choose another name")
        }
        let draft = "\(target).\(getpid())-\(UInt32.random(in: 0 ... .max)).new"
        // Stores the draft's name, so that the next start can remove the draft if the daemon is killed. Ignores an
        // error: if the database's disk is full, a backup to another disk must still be possible.
        try? await write { try $0.setDaemonValue(Self.draftValueName, draft) }
        // Creates the draft here and not through SQLite, so that other users can never open the draft.
        let file = Glibc.open(draft, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw BackupFile.failure("cannot create a file beside \(target)") }
        defer {
            unlink(draft)
            unlink(draft + "-journal")
            Glibc.close(file)
        }
        guard fchmod(file, 0o600) == 0 else { throw BackupFile.failure("cannot create a file beside \(target)") }
        do {
            // `unsafeRead` starts no transaction: SQLite refuses VACUUM inside one.
            try await pool.unsafeRead { db in try db.execute(sql: "VACUUM INTO ?", arguments: [draft]) }
        } catch let error as DatabaseError where Self.isFailureToWriteCopy(error) {
            throw MerchantError(
                .backupFailed,
                "cannot write \(target): \(error.message ?? "no message") (SQLite \(error.extendedResultCode.rawValue))"
            )
        } catch { throw translatedReadError(error) }
        let manifest = try await Self.manifest(of: draft, file: file, programVersion: programVersion, at: now)
        let line = try ManifestText(manifest).line()
        let written = line.withUnsafeBytes {
            pwrite(file, $0.baseAddress, line.count, off_t(manifest.databaseBytes))
        }
        guard written == line.count, fsync(file) == 0 else { throw BackupFile.failure("cannot write \(target)") }
        // If another program has created `target` meanwhile, link(2) fails, whereas rename(2) would replace that file.
        guard link(draft, target) == 0 else { throw BackupFile.failure("cannot create \(target)") }
        unlink(draft)
        await forgetDraft(draft)
        try DatabaseFile.syncDirectory(of: target)
        return manifest
    }

    /// The name of the value in `daemon_facts` that holds the draft's path.
    private static let draftValueName = "backupDraft"

    /// The path of the draft that remains if the daemon was killed while it wrote a backup; nil if there is none.
    package func backupDraft() async -> String? {
        let draft = try? await read { try $0.daemonValue(Self.draftValueName) }
        // The value is empty after the backup has finished. A value without the suffix of a draft is ignored, because
        // the caller removes the file that the value names.
        return draft.flatMap { $0.hasSuffix(".new") ? $0 : nil }
    }

    /// Removes the draft of an interrupted backup. Blocks the thread while the draft's disk does not respond.
    package func removeBackupDraft(_ draft: String) async {
        unlink(draft)
        unlink(draft + "-journal")
        await forgetDraft(draft)
    }

    /// Removes the draft's stored name.
    private func forgetDraft(_ draft: String) async {
        try? await write { transaction in
            // Another backup may have started meanwhile and stored the name of its own draft.
            guard try transaction.daemonValue(Self.draftValueName) == draft else { return }
            try transaction.setDaemonValue(Self.draftValueName, "")
        }
    }

    /// Whether the error comes from writing the copy, and not from reading the database.
    private static func isFailureToWriteCopy(_ error: DatabaseError) -> Bool {
        switch error.resultCode {
        case .SQLITE_FULL, .SQLITE_CANTOPEN, .SQLITE_READONLY: true
        case .SQLITE_IOERR:
            [.SQLITE_IOERR_WRITE, .SQLITE_IOERR_FSYNC, .SQLITE_IOERR_TRUNCATE, .SQLITE_IOERR_DIR_FSYNC]
                .contains(error.extendedResultCode)
        default: false
        }
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
        guard fstat(file, &found) == 0 else { throw BackupFile.failure("cannot read the size of \(copy)") }
        manifest.databaseBytes = Int(found.st_size)
        manifest.sha256 = try BackupFile.digest(ofFirst: manifest.databaseBytes, from: file, named: copy)
        return manifest
    }

    /// Compares the numbers and the audit head in a manifest with the database.
    ///
    /// - Returns: one sentence for each difference; empty if there are none.
    package func manifestFindings(_ manifest: BackupManifest) async throws -> [String] {
        let (counts, newest) = try await readTables { db in
            let reader = StoreReader(db: db)
            return (try reader.counts(at: manifest.createdAt), try reader.newestKeyPairId())
        }
        /// The number of key pairs in each state.
        func text(_ states: [KeyState: Int]) -> String {
            KeyState.allCases.map { "\(states[$0] ?? 0) \($0.rawValue)" }.joined(separator: ", ")
        }
        let compared: [(name: String, inDatabase: String, inManifest: String)] = [
            ("merchants", "\(counts.merchants)", "\(manifest.merchants)"),
            ("key pairs", text(counts.keyPairs), text(manifest.keyPairs)),
            ("certificates", "\(counts.certificates)", "\(manifest.certificates)"),
            (
                "audit head", "\(counts.auditHead?.description ?? "none")",
                "\(manifest.auditHead?.description ?? "none")"
            ),
            ("newest key pair", "\(newest)", "\(manifest.newestKeyPairId)"),
        ]
        return compared.filter { $0.inDatabase != $0.inManifest }.map {
            "\($0.name): the database has \($0.inDatabase), but the manifest says \($0.inManifest)"
        }
    }
}

extension StoreReader {
    /// The highest row id of a key pair; 0 if there is no key pair.
    func newestKeyPairId() throws -> Int {
        try firstRow("SELECT coalesce(max(id), 0) AS newest FROM key_pairs", []) { try $0.integer("newest") } ?? 0
    }
}
