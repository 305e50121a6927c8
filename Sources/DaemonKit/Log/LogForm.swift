/// How a log line shows its fields. Each value of ``LogFormat`` has one.
protocol LogForm: Sendable {
    /// A value from an untrusted caller, such as a program's path, must not be able to end the line or add a field.
    ///
    /// - Returns: the line without its end.
    func line(_ fields: [LogField]) -> String
}

/// A name that the program chose, and its value.
struct LogField: Sendable {
    let name: String
    let value: String

    init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}
