import FoundationEssentials
import GRDB
import Glibc
package import MerchantCore
package import Vocabulary

extension SQLiteStore {
    /// Writes a copy of the database as it is at one moment, with its manifest, to a new file of mode 0600.
    ///
    /// The copy is written beside `target` under another name, made durable, then given its name: there is never half a
    /// backup. Writers go on meanwhile. Deleted content is not copied.
    ///
    /// - Throws: `backupFailed` where the file exists or cannot be written; `storeUnavailable` where the database is damaged.
    package func backUp(to target: String, programVersion: String, at now: Timestamp) async throws -> BackupManifest {
        guard access(target, F_OK) != 0 else {
            throw MerchantError(.backupFailed, "\(target) exists, expected a new name")
        }
        let draft = "\(target).\(getpid())-\(UInt32.random(in: 0 ... .max)).new"
        // Should the daemon be killed, the next start removes it; a disk that is full for the database is no reason not to go on.
        try? await write { try $0.setDaemonFact(Self.draftFact, draft) }
        // Made by us, so that it is ours alone before the first byte is in it.
        let file = Glibc.open(draft, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw BackupFile.failure("cannot make a file beside \(target)") }
        defer {
            unlink(draft)
            unlink(draft + "-journal")
            Glibc.close(file)
        }
        guard fchmod(file, 0o600) == 0 else { throw BackupFile.failure("cannot make a file beside \(target)") }
        do {
            try await pool.unsafeRead { db in try db.execute(sql: "VACUUM INTO ?", arguments: [draft]) }
        } catch let error as DatabaseError where Self.isAboutTheCopy(error) {
            throw MerchantError(
                .backupFailed,
                "cannot write \(target): \(error.message ?? "no message") (SQLite \(error.extendedResultCode.rawValue))"
            )
        } catch { throw noted(error) }
        let manifest = try await Self.manifest(of: draft, file, programVersion: programVersion, at: now)
        let line = try ManifestText(manifest).line()
        let written = line.withUnsafeBytes {
            pwrite(file, $0.baseAddress, line.count, off_t(manifest.databaseBytes))
        }
        guard written == line.count, fsync(file) == 0 else { throw BackupFile.failure("cannot write \(target)") }
        // link(2) fails where the name was taken meanwhile; rename(2) would replace what is there.
        guard link(draft, target) == 0 else { throw BackupFile.failure("cannot make \(target)") }
        unlink(draft)
        await forgetDraft(draft)
        try DatabaseFile.syncDirectory(of: target)
        return manifest
    }

    private static let draftFact = "backupDraft"

    /// What a backup left that was being written when the daemon was killed; nil for nothing.
    package func backupDraft() async -> String? {
        let draft = try? await read { try $0.daemonFact(Self.draftFact) }
        return draft.flatMap { $0.hasSuffix(".new") ? $0 : nil }
    }

    /// Removes it. Waits for the disk that it lies on.
    package func removeBackupDraft(_ draft: String) async {
        unlink(draft)
        unlink(draft + "-journal")
        await forgetDraft(draft)
    }

    private func forgetDraft(_ draft: String) async {
        try? await write { transaction in
            // Another may be on its way meanwhile.
            guard try transaction.daemonFact(Self.draftFact) == draft else { return }
            try transaction.setDaemonFact(Self.draftFact, "")
        }
    }

    /// Whether a failure lies with the file that is written, not with the database.
    private static func isAboutTheCopy(_ error: DatabaseError) -> Bool {
        switch error.resultCode {
        case .SQLITE_FULL, .SQLITE_CANTOPEN, .SQLITE_READONLY: true
        case .SQLITE_IOERR:
            [.SQLITE_IOERR_WRITE, .SQLITE_IOERR_FSYNC, .SQLITE_IOERR_TRUNCATE, .SQLITE_IOERR_DIR_FSYNC]
                .contains(error.extendedResultCode)
        default: false
        }
    }

    /// Everything but the creation is read from the copy, not from the database, which has gone on.
    private static func manifest(
        of copy: String, _ file: Int32, programVersion: String, at now: Timestamp
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
        guard fstat(file, &found) == 0 else { throw BackupFile.failure("cannot examine \(copy)") }
        manifest.databaseBytes = Int(found.st_size)
        manifest.sha256 = try BackupFile.pass(manifest.databaseBytes, from: file, to: nil, copy, copy)
        return manifest
    }

    /// What the database itself says of what a manifest says, for a verification.
    package func manifestFindings(_ manifest: BackupManifest) async throws -> [String] {
        let (counts, newest) = try await readTables { db in
            let reader = StoreReader(db: db)
            return (try reader.counts(at: manifest.createdAt), try reader.newestKeyPairId())
        }
        func text(_ states: [KeyState: Int]) -> String {
            KeyState.allCases.map { "\(states[$0] ?? 0) \($0.rawValue)" }.joined(separator: ", ")
        }
        let compared: [(String, String, String)] = [
            ("merchants", "\(counts.merchants)", "\(manifest.merchants)"),
            ("key pairs", text(counts.keyPairs), text(manifest.keyPairs)),
            ("certificates", "\(counts.certificates)", "\(manifest.certificates)"),
            (
                "audit head", "\(counts.auditHead?.description ?? "none")",
                "\(manifest.auditHead?.description ?? "none")"
            ),
            ("newest key pair", "\(newest)", "\(manifest.newestKeyPairId)"),
        ]
        return compared.filter { $0.1 != $0.2 }.map { "\($0.0): found \($0.1), expected \($0.2) by the manifest" }
    }
}

extension StoreReader {
    func newestKeyPairId() throws -> Int {
        try first("SELECT coalesce(max(id), 0) AS newest FROM key_pairs", []) { try $0.integer("newest") } ?? 0
    }
}
