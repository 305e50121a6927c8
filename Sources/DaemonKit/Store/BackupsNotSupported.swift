import MerchantCore

/// Refuses backups, which are copies of the files of a SQLite database.
struct BackupsNotSupported: BackupManaging {
    func createBackup(at path: String) async throws -> BackupManifest {
        throw MerchantError.notSupportedOnPostgreSQL("a backup cannot be created")
    }

    func verify(_ path: String) async throws -> BackupVerificationResult {
        throw MerchantError.notSupportedOnPostgreSQL("a backup cannot be verified")
    }

    func discard(_ path: String) async {}
}

extension MerchantError {
    /// What an operator does instead of a backup by the daemon.
    static let backupAdvice =
        "back up the server with pg_basebackup and an archive of its write-ahead log, and restore it with point-in-time recovery; see docs/postgresql.md"

    /// - Parameters:
    ///   - failure: what cannot be done.
    ///   - advice: what the operator can do instead.
    static func notSupportedOnPostgreSQL(_ failure: String, advice: String = backupAdvice) -> MerchantError {
        MerchantError(
            .notSupportedByStore, "\(failure), because the daemon uses PostgreSQL ('store.kind'): \(advice)")
    }
}

extension Settings {
    /// For a command that works on the files of a SQLite database.
    ///
    /// - Parameters:
    ///   - failure: what cannot be done on PostgreSQL.
    ///   - advice: what the operator can do instead.
    /// - Returns: these settings.
    /// - Throws: `notSupportedByStore` if the daemon uses PostgreSQL.
    func onlyOnSQLite(_ failure: String, advice: String = MerchantError.backupAdvice) throws -> Settings {
        if store.postgresql != nil { throw MerchantError.notSupportedOnPostgreSQL(failure, advice: advice) }
        return self
    }
}
