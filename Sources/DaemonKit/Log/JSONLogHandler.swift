import FoundationEssentials
package import Logging
import Vocabulary

/// Writes each log event as one line with a JSON object (RFC 8259) to standard error. All values are strings.
///
/// For example: `{"time":"2026-11-22T10:15:00Z","level":"warning","message":"request forbidden","uid":"1001"}`. A value
/// from an untrusted caller cannot add a member or a line: quotes, backslashes, and every character that is invisible
/// or changes the direction of the text are escaped.
package struct JSONLogHandler: LogHandler {
    package var metadata: Logger.Metadata = [:]
    package var logLevel: Logger.Level {
        get { threshold.level }
        set { threshold.level = newValue }
    }
    private var threshold: LogThreshold
    private let marksPriority: Bool
    private let write: @Sendable (String) -> Void

    /// The members that every line has. A field of the metadata with one of these names gets the prefix `field.`.
    private static let ownMembers: Set<String> = ["time", "level", "message", "error"]

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
        var members = [
            ("time", "\(Timestamp(Date()))"), ("level", "\(event.level)"), ("message", event.message.description),
        ]
        for (name, value) in metadata.merging(event.metadata ?? [:], uniquingKeysWith: { $1 })
            .sorted(by: { $0.key < $1.key })
        {
            members.append((Self.ownMembers.contains(name) ? "field.\(name)" : name, "\(value)"))
        }
        if let error = event.error { members.append(("error", "\(error)")) }
        let object = members.map { "\(Self.string($0.0)):\(Self.string($0.1))" }.joined(separator: ",")
        write("\(marksPriority ? event.level.journalPrefix : ""){\(object)}\n")
    }

    private static func string(_ text: String) -> String {
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
                    for unit in String(scalar).utf16 { quoted += escape(unit) }
                default: quoted.unicodeScalars.append(scalar)
                }
            }
        }
        return quoted + "\""
    }

    /// A character beyond the first 65,536 has two escapes, one for each UTF-16 code unit.
    private static func escape(_ unit: UInt16) -> String {
        let digits = String(unit, radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }
}
