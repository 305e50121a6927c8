import MerchantCore
import PostgresStore
import SQLiteStore
import StoreCore

/// A store that can be written to a backup.
protocol BackupSource: Sendable {
    /// Writes one consistent state of the store, without its claims, to a file, as a SQLite database. Other
    /// transactions can commit meanwhile. Blocks the thread.
    ///
    /// - Parameters:
    ///   - draft: the path of the file, which is empty or missing.
    ///   - target: the name of the backup, for messages.
    /// - Throws: `backupFailed` if the draft cannot be written, or if PostgreSQL fails during the copy;
    ///   `storeUnavailable` if the store cannot be read.
    func writeBackup(to draft: String, named target: String) async throws
}

extension SQLiteStore: BackupSource {}

/// A PostgreSQL database. Its rows are copied to the SQLite database of the backup in one transaction, so a backup has
/// the same form on both stores, and can be restored to both.
struct PostgresBackupSource: BackupSource {
    let connection: ConnectionSettings
    let clock: any WallClock
    /// Only tests pass `notRequired`.
    var durability = Durability.required

    func writeBackup(to draft: String, named target: String) throws {
        let source = try PostgresTables(connection, asOwner: false, durability: durability)
        do {
            let copy = try SQLiteCopy(backup: draft, clock: clock)
            try DatabaseCopy(from: source, to: copy, withClaims: false).copyRows()
            try copy.finish()
        } catch let error as MerchantError {
            throw MerchantError(.backupFailed, "cannot write \(target): \(error.detail)")
        }
    }
}
