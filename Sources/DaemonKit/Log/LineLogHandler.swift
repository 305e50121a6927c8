import FoundationEssentials
package import Logging
import Vocabulary

/// Writes each log event as one line, by default to standard error.
package struct LineLogHandler: LogHandler {
    package var metadata: Logger.Metadata = [:]
    package var logLevel: Logger.Level {
        get { threshold.level }
        set { threshold.level = newValue }
    }
    private var threshold: LogThreshold
    private let form: any LogForm
    private let marksPriority: Bool
    private let write: @Sendable (String) -> Void

    /// - Parameters:
    ///   - format: the form of the lines.
    ///   - marksPriority: whether each line begins with the priority for journald.
    ///   - threshold: the least severe level to write.
    ///   - write: receives complete lines.
    package init(
        _ format: LogFormat, marksPriority: Bool = false, threshold: LogThreshold = LogThreshold { .info },
        write: @escaping @Sendable (String) -> Void = { StandardError.write($0) }
    ) {
        form = format.form
        self.marksPriority = marksPriority
        self.threshold = threshold
        self.write = write
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        write("\(marksPriority ? event.level.journalPrefix : "")\(form.line(fields(of: event)))\n")
    }

    /// The event's own fields and the metadata, each name once. A metadata field that has the same name as one of the
    /// event's own fields gets the prefix `field.`.
    private func fields(of event: LogEvent) -> [LogField] {
        let first = [
            LogField("time", "\(Timestamp(Date()))"), LogField("level", "\(event.level)"),
            LogField("message", event.message.description),
        ]
        let last = event.error.map { [LogField("error", "\($0)")] } ?? []
        let taken = Set((first + last).map(\.name))
        let pairs = metadata.merging(event.metadata ?? [:]) { $1 }.sorted { $0.key < $1.key }
        let middle = pairs.map { name, value in
            LogField(taken.contains(name) ? "field.\(name)" : name, "\(value)")
        }
        return first + middle + last
    }
}
