import StoreCore

/// Identifies a transaction, so that the daemon can ask the server for its outcome after the connection was lost.
struct TransactionMark: Hashable, Sendable, CustomStringConvertible {
    /// The server that ran the transaction.
    let server: ServerIdentity
    /// The number of the transaction, PostgreSQL's `xid8`.
    let number: String

    var description: String { number }
}

/// A database cluster and its timeline. After the promotion of a standby, which begins a new timeline, the number of a
/// transaction can belong to another transaction.
struct ServerIdentity: Hashable, Sendable {
    let systemIdentifier: String
    let timeline: String
}

/// What happened to a transaction whose commit received no response.
enum CommitOutcome: Sendable {
    /// The changes are on stable storage.
    case committed
    /// Nothing was changed.
    case rolledBack
    /// The server still runs the transaction: ask again.
    case inProgress
    /// PostgreSQL no longer knows the transaction, or another server has taken over.
    case unknown

    /// Asks a server for the outcome of a transaction.
    static func of(_ mark: TransactionMark, on connection: Connection, server: ServerIdentity) throws -> CommitOutcome {
        guard mark.server == server else { return .unknown }
        let row = try connection.query("SELECT pg_xact_status($1::text::xid8) AS status", [mark.number]).first
        switch try row?.textIfAny("status") {
        case "committed": return .committed
        case "aborted": return .rolledBack
        case "in progress": return .inProgress
        default: return .unknown
        }
    }
}
