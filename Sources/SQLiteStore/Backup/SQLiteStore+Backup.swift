import GRDB
package import MerchantCore
import StoreCore
import Vocabulary

extension SQLiteStore {
    /// Writes one consistent state of the database to an empty file. Other writes to the database continue meanwhile.
    /// Deleted content of the database is not copied.
    ///
    /// - Parameters:
    ///   - draft: the path of the empty file.
    ///   - target: the name of the backup, for messages.
    /// - Throws: `backupFailed` if the draft cannot be written; `storeUnavailable` if the database is damaged.
    package func writeBackup(to draft: String, named target: String) async throws {
        do {
            // `unsafeRead` starts no transaction: SQLite refuses VACUUM inside one.
            try await pool.unsafeRead { db in try db.execute(sql: "VACUUM INTO ?", arguments: [draft]) }
        } catch let error as DatabaseError where Self.isFailureToWriteCopy(error) {
            throw MerchantError(
                .backupFailed,
                "cannot write \(target): \(error.message ?? "no message") (SQLite \(error.extendedResultCode.rawValue))"
            )
        } catch { throw translatedReadError(error) }
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

    /// Compares the numbers and the audit head in a manifest with the database.
    ///
    /// - Returns: one sentence for each difference; empty if there are none.
    package func manifestFindings(_ manifest: BackupManifest) async throws -> [String] {
        let (counts, newest) = try await readTables { db in
            let reader = StoreReader(db: db)
            return (try reader.counts(at: manifest.createdAt), try reader.newestKeyPairId())
        }
        /// The number of key pairs in each state, as text.
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
