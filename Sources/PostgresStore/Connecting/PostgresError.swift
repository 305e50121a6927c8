/// An error that PostgreSQL or libpq reported.
struct PostgresError: Error {
    /// The five characters of the SQL standard's error code, such as `23505`; nil if libpq itself found the error, for
    /// example because the connection was lost.
    let sqlState: String?
    /// The error message in one line. Does not contain values of the database: see ``mayContainValues(_:)``.
    let message: String
    /// The constraint that a statement violated.
    let constraint: String?
    /// Whether the connection is unusable now.
    let isConnectionLost: Bool

    init(sqlState: String?, message: String, constraint: String? = nil, isConnectionLost: Bool) {
        self.sqlState = sqlState
        self.message =
            Self.mayContainValues(sqlState) ? "the message is not shown, because it may contain values" : message
        self.constraint = constraint
        self.isConnectionLost = isConnectionLost
    }

    /// The class of the error code: its first two characters.
    var sqlStateClass: Substring? { sqlState?.prefix(2) }

    /// Whether the message can quote a value: class 22 (data exception), such as `invalid input syntax for type
    /// integer: "…"`. The detail of a message, which quotes the values of a violated constraint, is never read.
    private static func mayContainValues(_ sqlState: String?) -> Bool { sqlState?.hasPrefix("22") ?? false }
}
