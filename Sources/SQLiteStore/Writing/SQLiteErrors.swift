import GRDB
import MerchantCore

/// Translates the errors of SQLite and GRDB to `MerchantError`.
enum SQLiteErrors {
    /// Runs `body` and translates its errors.
    ///
    /// - Parameters:
    ///   - kind: the database that `body` uses. The advice in the messages depends on it.
    ///   - path: the path of the database, for messages; nil to leave it out.
    static func translating<Result>(
        of kind: DatabaseKind = .merchants, at path: String? = nil, _ body: () throws -> Result
    ) throws -> Result {
        do { return try body() } catch { throw translated(error, of: kind, at: path) }
    }

    static func translating<Result>(
        of kind: DatabaseKind = .merchants, isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws -> Result
    ) async throws -> Result {
        do { return try await body() } catch { throw translated(error, of: kind) }
    }

    /// The `MerchantError` for an error of SQLite or GRDB; other errors are returned unchanged.
    static func translated(
        _ error: any Error, of kind: DatabaseKind = .merchants, at path: String? = nil
    ) -> any Error {
        switch error {
        case let error as DatabaseError: MerchantError(code(of: error), detail(of: error, kind, path))
        case is RowDecodingError:
            MerchantError(.storeUnavailable, "\(kind.name) contains an invalid value: \(kind.repair)")
        case let error as DatabaseFile.ReplacedError:
            MerchantError(
                .storeUnavailable,
                "'\(error.path)' was removed or replaced while in use: found \(error.found), expected \(error.expected). Stop the daemon with SIGTERM, not with kill -9, because only a clean shutdown saves the changes in a removed '-wal' file. Then put back the original database file and leave its '-wal' file as it is, or \(kind.repairWhileStopped)"
            )
        default: error
        }
    }

    /// The beginning of an error message for a corrupt database. The message names two causes, because SQLite reports
    /// the same error for a damaged file and for a disk that cannot be read.
    static func damaged(_ kind: DatabaseKind, at path: String? = nil) -> String {
        "\(kind.name)\(path.map { " \($0)" } ?? "") is damaged or its disk cannot be read: check the kernel log for disk errors, and run 'merchantkeyctl diagnose --state-directory COPY' on a copy of the state directory; if the file is damaged, \(kind.repair)"
    }

    /// Whether the error shows that the storage is no longer reliable, so that the store must refuse all further
    /// writes.
    ///
    /// An example is a failed sync. The kernel may mark pages as clean although they did not reach the disk. A second
    /// sync would then succeed, but the data is lost.
    static func isStorageFailure(_ error: any Error) -> Bool {
        if error is DatabaseFile.ReplacedError { return true }
        guard let error = error as? DatabaseError else { return false }
        // SQLITE_IOERR_SHMSIZE means that the disk is full: the shared-memory file could not grow. Nothing was written,
        // so the storage is still reliable.
        guard error.extendedResultCode != .SQLITE_IOERR_SHMSIZE else { return false }
        return error.resultCode == .SQLITE_IOERR || isCorruption(error)
    }

    /// Whether SQLite found that the file is corrupt or not a database.
    static func isCorruption(_ error: any Error) -> Bool {
        [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains((error as? DatabaseError)?.resultCode)
    }

    private static func code(of error: DatabaseError) -> MerchantError.Code {
        switch error.resultCode {
        // These errors are bugs of the daemon, which must check all values before it passes them to SQLite.
        case .SQLITE_CONSTRAINT, .SQLITE_MISUSE, .SQLITE_ERROR, .SQLITE_TOOBIG, .SQLITE_MISMATCH, .SQLITE_RANGE:
            .internalError
        default: .storeUnavailable
        }
    }

    /// The text of the `MerchantError`: what failed, why, and what to do. The text may name constraints and columns,
    /// but never contains a stored value: GRDB's message contains no arguments of the statement, and this text omits
    /// the statement.
    private static func detail(of error: DatabaseError, _ kind: DatabaseKind, _ path: String?) -> String {
        let name = kind.name + (path.map { " \($0)" } ?? "")
        let cause = "\(error.message ?? "no message") (SQLite \(error.extendedResultCode.rawValue))"
        return switch error.resultCode {
        case .SQLITE_IOERR where error.extendedResultCode == .SQLITE_IOERR_SHMSIZE, .SQLITE_FULL:
            "the disk is full, and nothing was changed: make room and try again: \(cause)"
        case .SQLITE_READONLY:
            "\(name) cannot be written: check the owner and mode of its file and directory; if they are right, the header of the file is damaged: \(kind.repair): \(cause)"
        case .SQLITE_BUSY, .SQLITE_LOCKED:
            "another program has locked \(name): stop that program and try again: \(cause)"
        case .SQLITE_NOTADB: "the file of \(name) is not an SQLite database: \(kind.repair): \(cause)"
        case .SQLITE_CORRUPT: "\(damaged(kind, at: path)): \(cause)"
        case .SQLITE_IOERR: "the storage failed: check the disk and the kernel log: \(cause)"
        case .SQLITE_CANTOPEN:
            "\(name) cannot be opened: check the owner and mode of its files, and of their directory: \(cause)"
        case .SQLITE_CONSTRAINT: "the change violates a constraint of the database: \(cause)"
        default: "SQLite reported an error: \(cause)"
        }
    }
}

// MARK: - Names and advice

extension DatabaseKind {
    /// The database's name in messages.
    fileprivate var name: String {
        switch self {
        case .merchants: "the database"
        case .claims: "the claims database"
        }
    }

    /// What to do if the file is unusable and the daemon may be running.
    var repair: String {
        switch self {
        case .merchants: repairWhileStopped
        case .claims: "stop the daemon, \(repairWhileStopped)"
        }
    }

    /// What to do if the file is unusable and the daemon is stopped. There are no backups of claims.
    fileprivate var repairWhileStopped: String {
        switch self {
        case .merchants: "restore a backup"
        case .claims:
            "move the file away with its '-wal' and '-shm', and start the daemon; a token that was claimed in the last ten minutes could then be claimed again"
        }
    }
}
