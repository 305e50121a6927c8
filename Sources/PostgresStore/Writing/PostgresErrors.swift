import MerchantCore

/// Translates the errors of PostgreSQL and libpq to `MerchantError`.
enum PostgresErrors {
    static func translating<Result>(_ body: () throws -> Result) throws -> Result {
        do { return try body() } catch { throw translated(error) }
    }

    /// The `MerchantError` for an error of PostgreSQL or libpq; other errors are returned unchanged.
    static func translated(_ error: any Error) -> any Error {
        if let lost = error as? LostTransactions { return lost.merchantError }
        guard let error = error as? PostgresError else { return error }
        return MerchantError(code(of: error), detail(of: error))
    }

    /// Whether the same transaction can succeed when it is run again: a serialization failure or a deadlock.
    static func isTransient(_ error: any Error) -> Bool {
        ["40001", "40P01"].contains((error as? PostgresError)?.sqlState)
    }

    private static func code(of error: PostgresError) -> MerchantError.Code {
        if error.isConnectionLost { return .storeUnavailable }
        switch error.sqlState {
        // A time limit of a lock or of a statement, a deadlock, or a serialization failure.
        case "55P03", "57014", "40001", "40P01": return .overloaded
        // The role lacks a privilege: a mistake of the operator.
        case "42501": return .storeUnavailable
        default: break
        }
        switch error.sqlStateClass {
        // These errors are bugs of the daemon, which must check all values before it passes them to PostgreSQL: data
        // exceptions, violated constraints, errors of the SQL text, and functions of triggers that raise an error.
        case "22", "23", "42", "P0", "2F", "21": return .internalError
        default: return .storeUnavailable
        }
    }

    /// The text of the `MerchantError`: what failed, why, and what to do. The text may name constraints and tables, but
    /// never contains a stored value, a statement or a password.
    private static func detail(of error: PostgresError) -> String {
        let cause = [error.message, error.sqlState.map { "SQLSTATE \($0)" }].compactMap { $0 }.joined(separator: ", ")
        return switch error.sqlState {
        case nil:
            "the connection to PostgreSQL failed: check that the server runs, and that the connection string and the password file are right: \(cause)"
        case "57P01", "57P02", "57P03":
            "PostgreSQL is shutting down or starting: try again when it accepts connections: \(cause)"
        case "53300":
            "PostgreSQL has no free connection: raise max_connections, or start fewer daemons or other clients: \(cause)"
        case "53100":
            "the disk of the PostgreSQL server is full, and nothing was changed: make room and try again: \(cause)"
        case "25006":
            "the PostgreSQL server is read-only, as a standby is, and nothing was changed: connect to the primary, for example with target_session_attrs=read-write: \(cause)"
        case "55P03": "another daemon or program holds a lock of the database: try again: \(cause)"
        case "57014": "PostgreSQL cancelled a statement that took too long: try again: \(cause)"
        case "40001", "40P01": "the change conflicted with another change, and nothing was changed: try again: \(cause)"
        case "42501": "the daemon's role lacks a privilege: grant the missing privilege: \(cause)"
        case "25P03":
            "PostgreSQL ended a transaction in which the daemon sent nothing for too long, and nothing was changed: try again: \(cause)"
        case "28P01", "28000":
            "PostgreSQL refused the daemon's user: check the user, the password file and pg_hba.conf: \(cause)"
        case "3D000": "there is no such database: create it, or correct the connection string: \(cause)"
        default:
            switch error.sqlStateClass {
            case "23":
                "the change violates a constraint of the database\(error.constraint.map { ", \($0)" } ?? ""): \(cause)"
            case "08": "the connection to PostgreSQL was lost: check the server and the network: \(cause)"
            case "XX": "the database is damaged: check the server's log, and restore a backup if necessary: \(cause)"
            default: "PostgreSQL reported an error: \(cause)"
            }
        }
    }
}
