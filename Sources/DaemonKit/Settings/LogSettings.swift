package import Logging

/// `log`: what the daemon writes to standard error, and in which form.
package struct LogSettings: Sendable, Hashable {
    package let level: Logger.Level
    package let format: LogFormat
    /// Whether the daemon writes a line for each response.
    package let logsRequests: Bool
    /// Whether the daemon writes a line for each span of a trace.
    package let logsSpans: Bool

    init(reading reader: SettingsReader) {
        level = reader.value(
            "log.level", .choice, default: "info", "The least severe log lines that the daemon writes.")
        format = reader.value(
            "log.format", .choice, default: "logfmt",
            "The form of a log line: logfmt (pairs of name and value) or json (one JSON object).")
        logsRequests = reader.value(
            "log.requests", .boolean, default: "false",
            "Whether the daemon writes a log line of the level info for each response of every listener.")
        logsSpans = reader.value(
            "log.spans", .boolean, default: "false",
            "Whether the daemon writes a log line of the level info for each span of a trace.")
    }
}
