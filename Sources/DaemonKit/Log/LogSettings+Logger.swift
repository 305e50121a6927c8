package import Logging

extension LogSettings {
    /// The daemon's logger, which writes to standard error.
    ///
    /// - Parameters:
    ///   - environment: the environment variables, which say whether standard error is the journal.
    ///   - level: returns the setting `log.level` as it is now. It is called for each log line, so it must not block.
    package func logger(_ environment: [String: String], level: @escaping @Sendable () -> Logger.Level) -> Logger {
        let marksPriority = StandardError.isJournal(environment)
        let threshold = LogThreshold(level)
        return Logger(label: "merchantkeyd") { _ in
            LineLogHandler(format, marksPriority: marksPriority, threshold: threshold)
        }
    }
}
