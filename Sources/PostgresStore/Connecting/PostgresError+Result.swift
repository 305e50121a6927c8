import CLibPQ

extension PostgresError {
    static let outOfMemory = PostgresError(sqlState: nil, message: "libpq is out of memory", isConnectionLost: true)

    /// The error of a failed statement.
    ///
    /// - Parameters:
    ///   - result: the result that reports the error; nil if libpq could create none.
    init(result: OpaquePointer?, of connection: OpaquePointer) {
        let sqlState = result.flatMap { clibpq_sqlstate($0) }.map { String(cString: $0) }
        let severity = result.flatMap { clibpq_severity($0) }.map { String(cString: $0) }
        let message = result.flatMap { clibpq_message($0) }.map { String(cString: $0) }
        self.init(
            sqlState: sqlState, message: message ?? Self.message(of: connection),
            constraint: result.flatMap { clibpq_constraint($0) }.map { String(cString: $0) },
            // After FATAL and PANIC, the server closes the connection. Without an error code, libpq itself found the
            // error, and the state of the connection is not known.
            isConnectionLost: sqlState == nil || severity == "FATAL" || severity == "PANIC"
                || PQstatus(connection) != CONNECTION_OK)
    }

    /// The error of a connection that could not be opened. libpq reports no error code here.
    static func connecting(_ connection: OpaquePointer) -> PostgresError {
        PostgresError(sqlState: nil, message: message(of: connection), isConnectionLost: true)
    }

    /// libpq's message in one line. It can name the host, the user and the database, but never contains the password.
    private static func message(of connection: OpaquePointer) -> String {
        guard let text = PQerrorMessage(connection) else { return "libpq reported no reason" }
        let lines = String(cString: text).split(whereSeparator: \.isNewline).map { line in
            String(line.drop { $0 == " " || $0 == "\t" })
        }
        return lines.isEmpty ? "libpq reported no reason" : lines.joined(separator: " ")
    }
}
