/// The syntax of a log line. Each value of ``LogFormat`` has its own implementation.
protocol LogForm: Sendable {
    /// Encodes the fields as one line. A value from an untrusted caller, such as a program's path, must not be able to
    /// begin a new line or add a field.
    ///
    /// - Returns: the line without a line feed.
    func line(_ fields: [LogField]) -> String
}

/// A field of a log line. Only the value may come from an untrusted caller.
struct LogField: Sendable {
    let name: String
    let value: String

    init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}
