import FoundationEssentials
package import Logging
import Vocabulary

/// Writes each log event as one line of `name=value` pairs (logfmt) to standard error.
///
/// For example: `time=2026-11-22T10:15:00Z level=warning message="request forbidden" code=forbidden uid=1001`. Values
/// are quoted and escaped, so that a value from an untrusted caller, such as a program's path, cannot add a line or a
/// pair.
package struct LogfmtHandler: LogHandler {
    package var metadata: Logger.Metadata = [:]
    package var logLevel: Logger.Level {
        get { threshold.level }
        set { threshold.level = newValue }
    }
    private var threshold: LogThreshold
    private let marksPriority: Bool
    private let write: @Sendable (String) -> Void

    /// - Parameters:
    ///   - marksPriority: whether each line begins with the priority for journald.
    ///   - threshold: the least severe level to write.
    ///   - write: receives complete lines.
    package init(
        marksPriority: Bool = false, threshold: LogThreshold = LogThreshold { .info },
        write: @escaping @Sendable (String) -> Void = { StandardError.write($0) }
    ) {
        self.marksPriority = marksPriority
        self.threshold = threshold
        self.write = write
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        var line = marksPriority ? event.level.journalPrefix : ""
        line += "time=\(Timestamp(Date())) level=\(event.level) message=\(Self.value(event.message.description))"
        let pairs = metadata.merging(event.metadata ?? [:]) { $1 }
        for (name, value) in pairs.sorted(by: { $0.key < $1.key }) { line += " \(name)=\(Self.value("\(value)"))" }
        if let error = event.error { line += " error=\(Self.value("\(error)"))" }
        write(line + "\n")
    }

    /// Returns the text unchanged if it contains only ASCII letters, digits and ``punctuation``. Otherwise returns it
    /// in quotes, with escapes such as `\"`, `\n` and `\u{7f}`.
    static func value(_ text: String) -> String {
        guard text.isEmpty || !text.utf8.allSatisfy(needsNoQuotes) else { return text }
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\t": quoted += "\\t"
            default:
                switch scalar.properties.generalCategory {
                case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned:
                    quoted += "\\u{\(String(scalar.value, radix: 16))}"
                default: quoted.unicodeScalars.append(scalar)
                }
            }
        }
        return quoted + "\""
    }

    private static func needsNoQuotes(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: punctuation.contains(byte)
        }
    }

    private static let punctuation = Array("-._/:@%+,".utf8)
}
