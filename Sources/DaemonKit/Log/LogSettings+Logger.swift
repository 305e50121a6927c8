package import Logging

extension LogSettings {
    /// The daemon's logger, which writes to standard error.
    ///
    /// - Parameter environment: the environment variables, which say whether standard error is the journal.
    package func logger(_ environment: [String: String]) -> Logger {
        let marksPriority = StandardError.isJournal(environment)
        var logger = Logger(label: "merchantkeyd") { _ in handler(marksPriority: marksPriority) }
        logger.logLevel = level
        return logger
    }

    private func handler(marksPriority: Bool) -> any LogHandler {
        switch format {
        case .logfmt: return LogfmtHandler(marksPriority: marksPriority)
        case .json: return JSONLogHandler(marksPriority: marksPriority)
        }
    }
}
