import GRDB
import MerchantCore

/// Translates SQLite's errors to `MerchantError`.
enum StoreFailure {
    /// The file of an open database was removed or replaced.
    struct Replaced: Error {
        let path: String
        let found: String
        let expected: String
    }

    /// Runs `body` and translates what it throws.
    static func translating<Result>(_ body: () throws -> Result) throws -> Result {
        do { return try body() } catch { throw translated(error) }
    }

    /// The same for work that waits.
    static func translating<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async throws -> Result {
        do { return try await body() } catch { throw translated(error) }
    }

    /// The domain's error for one of SQLite's; every other error as it is.
    static func translated(_ error: any Error) -> any Error {
        switch error {
        case let error as DatabaseError: MerchantError(code(of: error), detail(of: error))
        case is RowDecodingError:
            MerchantError(.storeUnavailable, "the database holds a value that cannot be read: restore a backup")
        case let error as Replaced:
            MerchantError(
                .storeUnavailable,
                "'\(error.path)' was removed or replaced while in use: found \(error.found), expected \(error.expected): stop the daemon, then put back the file that was opened, the '-wal' beside it untouched, or restore a backup; a clean shutdown, not kill -9, saves what a lost '-wal' holds"
            )
        default: error
        }
    }

    /// SQLite calls both the same.
    static let damaged =
        "the database is damaged or its disk cannot be read: check the disk first (kernel log; run 'merchantkeyctl diagnose' on a copy), restore a backup where the file is damaged"

    /// Whether the storage itself can no longer be relied on.
    ///
    /// After a failed sync the kernel may call lost pages clean: a second attempt would succeed and be no proof of anything.
    static func isLasting(_ error: any Error) -> Bool {
        if error is Replaced { return true }
        guard let error = error as? DatabaseError else { return false }
        // The shared memory beside the log could not grow, which a full disk leads to: nothing was written.
        guard error.extendedResultCode != .SQLITE_IOERR_SHMSIZE else { return false }
        return error.resultCode == .SQLITE_IOERR || isCorruption(error)
    }

    /// Whether the file does not hold what SQLite wrote.
    static func isCorruption(_ error: any Error) -> Bool {
        [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains((error as? DatabaseError)?.resultCode)
    }

    private static func code(of error: DatabaseError) -> MerchantError.Code {
        switch error.resultCode {
        // Reached only if the program lacks a check of its own.
        case .SQLITE_CONSTRAINT, .SQLITE_MISUSE, .SQLITE_ERROR, .SQLITE_TOOBIG, .SQLITE_MISMATCH, .SQLITE_RANGE:
            .internalError
        default: .storeUnavailable
        }
    }

    /// Names constraints and columns, never their values: GRDB keeps statements' arguments out of messages, and the statement is left out here.
    private static func detail(of error: DatabaseError) -> String {
        let cause = "\(error.message ?? "no message") (SQLite \(error.extendedResultCode.rawValue))"
        return switch error.resultCode {
        case .SQLITE_IOERR where error.extendedResultCode == .SQLITE_IOERR_SHMSIZE, .SQLITE_FULL:
            "the disk is full: nothing was changed, make room and try again: \(cause)"
        case .SQLITE_READONLY:
            "the database cannot be written: check the owner and mode of its file and directory: \(cause)"
        case .SQLITE_BUSY, .SQLITE_LOCKED: "another program holds the database: \(cause)"
        case .SQLITE_NOTADB: "the file is no database: \(cause)"
        case .SQLITE_CORRUPT: "\(damaged): \(cause)"
        case .SQLITE_IOERR: "the storage failed: \(cause)"
        case .SQLITE_CONSTRAINT: "the database refused what would break a rule of its: \(cause)"
        default: "the database failed: \(cause)"
        }
    }
}
